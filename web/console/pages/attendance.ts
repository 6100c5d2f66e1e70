import type { Schemas } from '../api/client';

type RoomPerson = Schemas['RoomPerson'];

interface Bar {
  /** The ends within the span, from 0 to 1. */
  from: number;
  to: number;
  connection: RoomPerson;
}

export interface Attendee {
  identity: string;
  name: string;
  role: string;
  userId: string;
  /** The seat of the latest connection. */
  seatId: string;
  hidden: boolean;
  here: boolean;
  /** The time in the room in milliseconds; connections at the same time count once. */
  totalMs: number;
  joinedMs: number;
  /** Null while the person is connected. */
  leftMs: number | null;
  bars: Bar[];
}

export interface Attendance {
  fromMs: number;
  toMs: number;
  people: Attendee[];
}

/** Groups the connections of a room by person, in the order in which they first joined. */
export function attendanceOf(connections: RoomPerson[], now: number): Attendance {
  const starts = connections.map(({ joined_at }) => Date.parse(joined_at));
  const leaves = connections.flatMap(({ left_at }) => (left_at ? [Date.parse(left_at)] : []));
  // The page learns of what happens before its own time moves on, and its clock may be behind that of the server.
  const latest = Math.max(now, ...starts, ...leaves);
  const ends = connections.map(({ left_at }) => (left_at ? Date.parse(left_at) : latest));
  const fromMs = Math.min(...starts);
  const toMs = Math.max(...ends, fromMs + 1);
  const fractionOf = (ms: number): number => (ms - fromMs) / (toMs - fromMs);
  const people = new Map<string, Attendee>();
  const coveredUntil = new Map<string, number>();
  for (const [i, connection] of connections.map((one, i) => [i, one] as const).sort(([i], [k]) => (starts[i] ?? 0) - (starts[k] ?? 0))) {
    const [start = 0, end = 0] = [starts[i], ends[i]];
    const { identity, name, role, user_id, seat_id, hidden, left_at } = connection;
    let person = people.get(identity);
    if (!person) {
      person = {
        identity,
        name,
        role,
        userId: user_id,
        seatId: seat_id,
        hidden,
        here: false,
        totalMs: 0,
        joinedMs: start,
        leftMs: end,
        bars: [],
      };
      people.set(identity, person);
    }
    const covered = Math.max(coveredUntil.get(identity) ?? start, start);
    person.totalMs += Math.max(0, end - covered);
    coveredUntil.set(identity, Math.max(covered, end));
    person.seatId = seat_id;
    person.here ||= !left_at;
    person.leftMs = person.here ? null : Math.max(person.leftMs ?? 0, end);
    person.bars.push({ from: fractionOf(start), to: fractionOf(end), connection });
  }
  return { fromMs, toMs, people: [...people.values()] };
}
