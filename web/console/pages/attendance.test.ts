import { expect, test } from 'vitest';
import { attendanceOf } from './attendance';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 10, minute)).toISOString();
const connection = (identity: string, from: number, to: number | null) => ({
  identity,
  name: identity,
  role: 'guest',
  user_id: '',
  seat_id: identity,
  session: 0,
  node: 'n',
  hidden: false,
  connection_type: 'udp' as const,
  connection_quality: 'good' as const,
  poor_seconds: 0,
  joined_at: at(from),
  left_at: to === null ? null : at(to),
  reason: '',
});

test('connections are grouped by person and placed in the span of the room', () => {
  const { fromMs, toMs, people } = attendanceOf(
    [connection('Ben', 5, 10), connection('Amina', 0, 4), connection('Amina', 3, 8), connection('Ben', 15, null)],
    Date.parse(at(20)),
  );
  expect([fromMs, toMs]).toEqual([Date.parse(at(0)), Date.parse(at(20))]);
  expect(people.map(({ identity, here, totalMs, leftMs }) => ({ identity, here, minutes: totalMs / 60_000, leftMs }))).toEqual([
    { identity: 'Amina', here: false, minutes: 8, leftMs: Date.parse(at(8)) },
    { identity: 'Ben', here: true, minutes: 10, leftMs: null },
  ]);
  expect(people[1]?.bars.map(({ from, to }) => [from, to])).toEqual([
    [0.25, 0.5],
    [0.75, 1],
  ]);
});

test('a connection without duration has a place', () => {
  const { people } = attendanceOf([connection('Amina', 0, 0)], Date.parse(at(5)));
  expect(people[0]?.bars.map(({ from, to }) => [from, to])).toEqual([[0, 0]]);
});

test('a person who is here is shown until the latest time that is known', () => {
  // The time of the page is behind: Amina has joined and Ben has left after it.
  const { toMs, people } = attendanceOf([connection('Amina', 10, null), connection('Ben', 5, 15)], Date.parse(at(9)));
  expect(toMs).toBe(Date.parse(at(15)));
  expect(people.map(({ identity, bars, totalMs }) => [identity, bars[0]?.to, totalMs / 60_000])).toEqual([
    ['Ben', 1, 10],
    ['Amina', 1, 5],
  ]);
});
