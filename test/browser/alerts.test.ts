import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

interface Heard {
  tones: number[];
  notifications: string[];
  permission: NotificationPermission;
}

/** Records the tones and the notifications of a page. */
async function listen(person: Person): Promise<void> {
  await person.page.addInitScript(() => {
    const heard: Heard = { tones: [], notifications: [], permission: 'default' };
    Object.assign(globalThis, { heard });
    const Usual = OscillatorNode;
    globalThis.OscillatorNode = class extends Usual {
      constructor(context: BaseAudioContext, options?: OscillatorOptions) {
        super(context, options);
        heard.tones.push(options?.frequency ?? 0);
      }
    };
    globalThis.Notification = class extends EventTarget {
      static get permission(): NotificationPermission {
        return heard.permission;
      }
      static requestPermission(): Promise<NotificationPermission> {
        heard.permission = 'granted';
        return Promise.resolve(heard.permission);
      }
      constructor(title: string, options?: NotificationOptions) {
        super();
        heard.notifications.push(`${title}: ${options?.body ?? ''}`);
      }
    } as unknown as typeof Notification;
  });
}

const heard = (person: Person): Promise<Heard> => person.page.evaluate(() => (globalThis as unknown as { heard: Heard }).heard);
const tones = async (person: Person): Promise<number[]> => (await heard(person)).tones;

/** Browsers of a test are never hidden, so the page is told that it is. */
const hide = (person: Person, hidden: boolean): Promise<unknown> =>
  person.page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

test('a host in another tab hears and sees knocks and new messages', async () => {
  server.set('locks.waiting_room=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  const { page } = host;
  await listen(host);
  await host.join(room.final_link);
  await host.openRoomTab();
  await host.button('Notify me when someone wants to join').click();
  await page.getByText('You’ll get a notification').waitFor();
  await host.seen('alerts-allowed');

  await hide(host, true);
  await ben.open(room.guest_link);
  await ben.page.getByLabel('Your name').fill('Ben');
  await ben.button('Ask to join').click();
  await expect.poll(() => page.title()).toBe('(1) Workshop');
  expect((await heard(host)).notifications).toEqual(['Workshop: Ben wants to join.']);
  expect(await tones(host)).toEqual([392, 392]);
  await hide(host, false);
  await expect.poll(() => page.title()).toBe('Workshop');
  await host.button('Admit').click();
  await ben.button('Leave').waitFor();

  // A message counts while the page is hidden, also with an open chat.
  await page.getByRole('tab', { name: 'Chat' }).click();
  await hide(host, true);
  await ben.button('Chat').click();
  await ben.page.getByLabel('Message', { exact: true }).fill('Hello');
  await ben.button('Send').click();
  await expect.poll(() => page.title()).toBe('(1) Workshop');
  expect(await tones(host)).toEqual([392, 392, 880]);
  await hide(host, false);
  await expect.poll(() => page.title()).toBe('Workshop');
  await ben.button('Close').click();

  // One switch turns all sounds off, also for the next time.
  await page.getByRole('tab', { name: 'Room' }).click();
  await page.getByRole('switch', { name: 'Play sounds' }).click();
  await ben.button('Raise hand').click();
  await host.button('Ben raised a hand').waitFor();
  expect(await tones(host)).toEqual([392, 392, 880]);
  await page.getByRole('switch', { name: 'Play sounds' }).click();
  await ben.button('Lower hand').click();
  await page.locator('.tile .hand-badge').waitFor({ state: 'detached' });
  await ben.button('Raise hand').click();
  await expect.poll(() => tones(host)).toEqual([392, 392, 880, 523, 659, 784]);
  await closeAll([host, ben]);
});
