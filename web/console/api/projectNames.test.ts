import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { session } from '../state/session';
import { forgetNames, otherNames, showName, showNames } from './projectNames';

const fetched = vi.fn<(address: string) => Promise<Response>>();
let stops: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetched);
  fetched.mockReset();
});

afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  forgetNames(['a', 'b', 'c']);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const show = (...ids: string[]): Set<string> => {
  const set = new Set(ids);
  stops.push(showNames(set));
  return set;
};

const names = (...all: [id: string, name: string][]): Response =>
  Response.json({ projects: all.map(([project_id, name]) => ({ project_id, name, test: false })) });

const nameOfA = (): string | undefined => otherNames.get().get('a');

test('names of a page that does not render again are read again after a minute, until nothing shows them', async () => {
  fetched.mockImplementation(async () => names(['a', `Name ${fetched.mock.calls.length}`]));
  show('a');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(nameOfA()).toBe('Name 1');
  expect(fetched).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(nameOfA()).toBe('Name 2');
  for (const stop of stops) stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('names that are shown at the same time are read together, and later ones too', async () => {
  fetched.mockImplementation(async () => names(['a', 'A'], ['b', 'B']));
  const shown = show('a');
  show('a', 'b');
  await vi.advanceTimersByTimeAsync(1);
  expect(fetched.mock.calls.map(([address]) => address)).toEqual([expect.stringMatching(/project_ids=a(,|%2C)b$/)]);
  showName(shown, 'c');
  showName(shown, 'c');
  await vi.advanceTimersByTimeAsync(1);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(fetched.mock.calls[1]?.[0]).toMatch(/project_ids=c$/);
  expect(otherNames.get().get('c')).toBe('c');
});

test('after a failure, the names are read again, and the known ones stay', async () => {
  fetched.mockResolvedValueOnce(names(['a', 'A']));
  show('a');
  await vi.advanceTimersByTimeAsync(1);
  fetched.mockImplementation(async () => Response.json({ error: { code: 'internal', message: 'no' } }, { status: 500 }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(nameOfA()).toBe('A');
  fetched.mockResolvedValueOnce(names(['a', 'B']));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(nameOfA()).toBe('B');
});

/** Requests a name, and returns what lets its response arrive. */
async function onItsWay(): Promise<(name: string) => Promise<void>> {
  let arrive = (_: Response): void => {};
  fetched.mockReturnValueOnce(
    new Promise((resolve) => {
      arrive = resolve;
    }),
  );
  show('a');
  await vi.advanceTimersByTimeAsync(1);
  return async (name) => {
    arrive(names(['a', name]));
    await vi.advanceTimersByTimeAsync(1);
  };
}

test('a response that was on its way when a project was renamed does not replace its new name', async () => {
  const arrive = await onItsWay();
  forgetNames(['a']);
  fetched.mockResolvedValueOnce(names(['a', 'New']));
  show('a');
  await vi.advanceTimersByTimeAsync(1);
  expect(nameOfA()).toBe('New');
  await arrive('Old');
  expect(nameOfA()).toBe('New');
});

test('a response that was on its way at the sign-out is dropped', async () => {
  const arrive = await onItsWay();
  session.set({ is: 'out', expired: false });
  await arrive('Of the other person');
  expect(nameOfA()).toBe(undefined);
});
