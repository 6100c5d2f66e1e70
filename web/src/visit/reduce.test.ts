import { describe, expect, test } from 'vitest';
import type { Preview, Refusal, RefusalCode, Seat } from '../api/client';
import { reduce } from './reduce';
import { opening, type Event, type Visit } from './state';
import { taskOf, type Task } from './task';

const minute = 60_000;

function preview(part: Partial<Preview> = {}): Preview {
  return {
    room_id: '01a1fd50-e127-70bb-989c-e1b3e2c83cd9',
    room_type: 'audio',
    title: 'Standup',
    welcome_message: '',
    state: 'open',
    participants: 1,
    max_participants: 10,
    server_time: '2026-01-01T00:00:00Z',
    you: { role: 'guest', name: '', returning: false },
    ...part,
  };
}

const host = preview({ you: { role: 'host', name: 'Amina', returning: false, link: 'ok' } });

const seat: Seat = {
  identity: 'seat-1',
  name: 'Ben',
  role: 'guest',
  session_id: 'room.1',
  media_token: 'first',
  room_type: 'audio',
  title: 'Standup',
  max_breakouts: 0,
  features: { camera: false, screen_share: false, chat: true },
};

const waitOf = (task: Task | null, random: number, now = 0): number | undefined => task?.waitMs(() => random, now);

function refusal(code: RefusalCode, part: Partial<Refusal> = {}): Event {
  return { type: 'refused', refusal: { code, reason: null, waitMs: 0, ...part } };
}

/** What becomes of a visit when these things happen, a minute apart. */
function after(start: Visit, ...events: Event[]): Visit {
  return events.reduce((visit, event, i) => reduce(visit, event, (i + 1) * minute), start);
}

const lobby = after(opening, { type: 'previewed', preview: preview() });
const inside = after(lobby, { type: 'join', name: 'Ben' }, { type: 'seated', seat }, { type: 'connected' });
const returning = after(inside, { type: 'dropped', loss: 'lost' });

describe('before joining', () => {
  test('a preview leads to the first view', () => {
    expect(lobby).toMatchObject({ at: 'lobby', notice: null, arrival: null });
    expect(taskOf(lobby)).toBeNull();
  });

  test('no answer is asked for again, ever more slowly', () => {
    const away = after(opening, { type: 'unreachable', waitMs: 0 }, { type: 'unreachable', waitMs: 0 });
    expect(away).toMatchObject({ at: 'opening', attempt: 2 });
    expect(waitOf(taskOf(opening), 1)).toBe(0);
    expect(waitOf(taskOf(away), 1)).toBe(800);
    expect(waitOf(taskOf(after(opening, { type: 'unreachable', waitMs: 7000 })), 1)).toBe(7000);
  });

  test('a link of another room is said, and a guest may come in', () => {
    const wrong = after(opening, {
      type: 'previewed',
      preview: preview({ you: { role: 'guest', name: '', returning: false, link: 'unknown' } }),
    });
    expect(wrong.at).toBe('wrongLink');
    expect(after(wrong, { type: 'asGuest' })).toMatchObject({ at: 'lobby', notice: null });
  });

  test('a host link that somebody else used is said at once', () => {
    const taken = preview({ you: { role: 'guest', name: '', returning: false, link: 'taken' } });
    expect(after(opening, { type: 'previewed', preview: taken })).toMatchObject({ at: 'lobby', notice: 'linkTaken' });
  });

  test('a link whose time is over is said, but not to somebody who was here before', () => {
    const you = { role: 'guest', name: '', returning: false, link: 'expired' } as const;
    expect(after(opening, { type: 'previewed', preview: preview({ you }) }).at).toBe('wrongLink');
    expect(after(opening, { type: 'previewed', preview: preview({ you: { ...you, returning: true } }) }).at).toBe('lobby');
  });
});

describe('a scheduled room', () => {
  const start = Date.parse('2026-01-01T01:00:00Z');
  const scheduled = preview({ state: 'scheduled', start_time: '2026-01-01T01:00:00Z', opens_at: '2026-01-01T01:00:00Z' });
  const early = after(opening, { type: 'previewed', preview: scheduled });
  const eager = after(early, { type: 'wait', name: 'Ben' });
  const opened: Event = { type: 'previewed', preview: { ...scheduled, server_time: '2026-01-01T01:00:00Z' } };

  test('is asked about again and again, and has its first view meanwhile', () => {
    expect(early).toMatchObject({ at: 'lobby', eager: false, arrival: null });
    expect(taskOf(early)?.do).toBe('preview');
    const asked = after(early, { type: 'previewed', preview: scheduled });
    expect(asked).toMatchObject({ at: 'lobby', polls: 1, notice: null });
    expect(taskOf(asked)?.key).not.toBe(taskOf(early)?.key);
  });

  test('lets in who wanted to come in, and tells the others', () => {
    expect(after(eager, opened)).toMatchObject({ at: 'lobby', arrival: { name: 'Ben', attempt: 0 } });
    expect(after(early, opened)).toMatchObject({ at: 'lobby', arrival: null, notice: 'open' });
    const byHost: Event = { type: 'previewed', preview: preview({ state: 'active' }) };
    expect(after(eager, byHost)).toMatchObject({ arrival: { name: 'Ben' } });
    expect(after(eager, { type: 'wait', name: null }, opened)).toMatchObject({ arrival: null, typed: 'Ben' });
  });

  test('lets in under the name that stands there at the end', () => {
    expect(after(eager, { type: 'wait', name: 'Benno' }, opened)).toMatchObject({ arrival: { name: 'Benno' } });
  });

  test('that was not open after all goes on waiting', () => {
    const knocking = after(eager, opened);
    expect(after(knocking, refusal('room_not_open'))).toMatchObject({ at: 'lobby', eager: true, arrival: null });
  });

  test('that is cancelled says so', () => {
    const cancelled = after(eager, refusal('room_ended', { reason: 'cancelled' }));
    expect(cancelled).toMatchObject({ at: 'refused', refusal: { reason: 'cancelled' }, title: 'Standup', stayMs: null });
  });

  test('is waited for although the server is away or has had enough of questions', () => {
    const away = after(eager, { type: 'unreachable', waitMs: 0 });
    expect(away).toMatchObject({ at: 'lobby', eager: true, trouble: null });
    expect(waitOf(taskOf(away), 0, start)).toBe(2_000);
    expect(waitOf(taskOf(after(eager, refusal('too_many_attempts', { waitMs: 9_000 }))), 0, start)).toBe(9_000);
  });

  test('asks for a name anew when the host link went to somebody else', () => {
    const you = { role: 'host', name: 'Amina', returning: false, link: 'ok' } as const;
    const waiting = after(opening, { type: 'previewed', preview: { ...scheduled, you } }, { type: 'wait', name: 'Amina' });
    const taken = { ...scheduled, you: { role: 'guest', name: '', returning: false, link: 'taken' } as const };
    expect(after(waiting, { type: 'previewed', preview: taken })).toMatchObject({ notice: 'linkTaken', eager: false, typed: null });
  });
});

describe('joining', () => {
  test('takes a seat, then connects, then is inside', () => {
    const joining = after(lobby, { type: 'join', name: 'Ben' });
    expect(taskOf(joining)).toMatchObject({ do: 'takeSeat', arrival: { name: 'Ben', role: 'guest' } });
    expect(after(joining, { type: 'join', name: 'Twice' })).toBe(joining);
    const seated = after(joining, { type: 'seated', seat });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
    expect(reduce(seated, { type: 'connected' }, 42)).toEqual({ at: 'room', seat, since: 42, link: { is: 'up' }, word: null });
    expect(taskOf(inside)).toBeNull();
  });

  test('a host link claimed meanwhile makes a guest without a name', () => {
    const late = after(opening, { type: 'previewed', preview: host }, { type: 'join', name: 'Amina' }, refusal('link_taken'));
    expect(late).toMatchObject({ at: 'lobby', notice: 'linkTaken', typed: null, arrival: null });
    expect(late.at === 'lobby' && late.preview.you).toMatchObject({ role: 'guest', name: '' });
  });

  test('a name that is refused is said beside the name', () => {
    expect(after(lobby, { type: 'join', name: 'x' }, refusal('invalid_request'))).toMatchObject({
      at: 'lobby',
      trouble: 'name',
      arrival: null,
    });
  });

  test('a server that does not answer is tried again, and then it is the turn of the visitor', () => {
    let visit = after(lobby, { type: 'join', name: 'Ben' }, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ trouble: 'unreachable', arrival: { attempt: 1 } });
    for (let i = 0; i < 5; i++) visit = after(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ at: 'lobby', trouble: 'gaveUp', arrival: null, typed: 'Ben' });
  });

  test('a network without sound is said after a second try', () => {
    const seated = after(lobby, { type: 'join', name: 'Ben' }, { type: 'seated', seat });
    const second = after(seated, { type: 'notConnected' });
    expect(second).toMatchObject({ at: 'lobby', trouble: null, arrival: { attempt: 1, seat: null } });
    expect(after(second, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({ trouble: 'noMedia', arrival: null });
  });

  test('a full room waits for a place, and keeps the name', () => {
    const full = after(lobby, { type: 'join', name: 'Ben' }, refusal('room_full'));
    expect(full).toMatchObject({ at: 'refused', title: 'Standup', stayMs: null });
    const still = after(full, { type: 'previewed', preview: preview({ participants: 10 }) });
    expect(still).toMatchObject({ at: 'refused', polls: 1 });
    expect(taskOf(still)?.key).not.toBe(taskOf(full)?.key);
    expect(after(still, { type: 'previewed', preview: preview() })).toMatchObject({ at: 'lobby', notice: 'free', typed: 'Ben' });
  });

  test('what nothing can change is not asked about again', () => {
    expect(taskOf(after(opening, refusal('room_ended')))).toBeNull();
    expect(waitOf(taskOf(after(opening, refusal('room_not_found'))), 0)).toBe(Infinity);
    const waiting = taskOf(after(opening, refusal('too_many_attempts', { waitMs: 40_000 })));
    expect(waitOf(waiting, 0)).toBe(40_000);
    expect(waiting?.firm).toBe(true);
  });
});

describe('inside', () => {
  test('a short disturbance is only noted', () => {
    const shaky = after(inside, { type: 'shaky' });
    expect(shaky).toMatchObject({ link: { is: 'shaky' } });
    expect(taskOf(shaky)).toBeNull();
    expect(after(shaky, { type: 'steady' })).toMatchObject({ link: { is: 'up' } });
  });

  test('a lost connection is taken up again with the same seat, however long it takes', () => {
    expect(taskOf(returning)).toMatchObject({ do: 'takeSeat', arrival: { name: 'Ben', role: 'guest', attempt: 0 } });
    expect(waitOf(taskOf(returning), 1)).toBe(0);
    let visit = returning;
    for (let i = 0; i < 100; i++) visit = after(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ at: 'room', link: { is: 'returning', arrival: { attempt: 100 } } });
    expect(waitOf(taskOf(visit), 1)).toBe(5_000);
    const again = { ...seat, media_token: 'second' };
    const back = after(visit, { type: 'seated', seat: again }, { type: 'connected' });
    expect(back).toMatchObject({ at: 'room', link: { is: 'up' }, seat: again });
    expect(back.at === 'room' && inside.at === 'room' && back.since === inside.since).toBe(true);
  });

  test('a connection that fails on the way back begins with the seat again', () => {
    expect(after(returning, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({
      link: { is: 'returning', arrival: { attempt: 1, seat: null } },
    });
  });

  test('too many attempts from one network are waited out, not shown', () => {
    const busy = after(returning, refusal('too_many_attempts', { waitMs: 9_000 }));
    expect(busy).toMatchObject({ at: 'room', link: { is: 'returning' } });
    expect(waitOf(taskOf(busy), 0)).toBe(9_000);
  });

  test('a refusal on the way back ends in its page, with how long it was', () => {
    expect(reduce(returning, refusal('room_ended', { reason: 'duration' }), 27 * minute)).toMatchObject({
      at: 'refused',
      refusal: { reason: 'duration' },
      stayMs: 24 * minute,
    });
  });

  test('a deleted room is asked why', () => {
    const asking = after(inside, { type: 'dropped', loss: 'deleted' });
    expect(taskOf(asking)?.do).toBe('preview');
    expect(after(asking, refusal('room_ended', { reason: 'host' }))).toMatchObject({ at: 'refused', refusal: { reason: 'host' } });
    expect(after(asking, { type: 'unreachable', waitMs: 0 })).toMatchObject({ link: { is: 'asking', attempt: 1 } });
    expect(after(asking, { type: 'previewed', preview: preview() })).toMatchObject({ link: { is: 'returning' } });
  });

  test('another tab, a removal and leaving have pages of their own', () => {
    expect(after(inside, { type: 'dropped', loss: 'elsewhere' })).toMatchObject({ at: 'away', why: 'elsewhere' });
    expect(after(inside, { type: 'dropped', loss: 'removed' })).toMatchObject({ at: 'removed', title: 'Standup' });
    const left = reduce(inside, { type: 'leave' }, 13 * minute);
    expect(left).toMatchObject({ at: 'away', why: 'left', stayMs: 10 * minute });
    expect(after(returning, { type: 'leave' })).toMatchObject({ at: 'away', why: 'left' });
  });
});

describe('breakout rooms', () => {
  const there: Seat = { ...seat, session_id: 'room.2', media_token: 'second', breakout: { number: 1, name: 'Room 1' } };
  const told = after(inside, { type: 'dropped', loss: 'moved' });
  const inBreakout = after(told, { type: 'seated', seat: there }, { type: 'connected' });

  test('who is told to move takes the seat again and goes where it is', () => {
    expect(told).toMatchObject({ at: 'room', link: { is: 'returning', moving: true } });
    expect(taskOf(told)).toMatchObject({ do: 'takeSeat', arrival: { name: 'Ben' } });
    expect(taskOf(after(told, { type: 'seated', seat: there }))).toMatchObject({ do: 'connect', seat: there });
    expect(inBreakout).toMatchObject({ at: 'room', seat: there, link: { is: 'up' } });
  });

  test('what the old place does meanwhile is not heeded', () => {
    const going = after(told, { type: 'seated', seat: there });
    for (const loss of ['moved', 'lost', 'deleted'] as const) expect(after(going, { type: 'dropped', loss })).toBe(going);
    expect(after(going, { type: 'dropped', loss: 'removed' }).at).toBe('removed');
  });

  test('a way that fails is the same way on the next attempt', () => {
    const failed = after(told, { type: 'unreachable', waitMs: 0 }, { type: 'seated', seat: there }, { type: 'notConnected' });
    expect(failed).toMatchObject({ link: { is: 'returning', moving: true, arrival: { attempt: 2, seat: null } } });
  });

  test('who is in one that is closed comes back without asking why', () => {
    const back = after(inBreakout, { type: 'dropped', loss: 'deleted' });
    expect(back).toMatchObject({ link: { is: 'returning', moving: true } });
    expect(taskOf(back)?.do).toBe('takeSeat');
    expect(after(back, refusal('room_ended', { reason: 'duration' }))).toMatchObject({ at: 'refused', refusal: { reason: 'duration' } });
  });

  test('a word to everybody stays until it is read, wherever one is', () => {
    const word = { text: 'Five more minutes.', from: 'Amina' };
    const heard = after(inside, { type: 'told', word });
    expect(heard).toMatchObject({ word });
    const moved = after(heard, { type: 'dropped', loss: 'moved' }, { type: 'seated', seat: there }, { type: 'connected' });
    expect(moved).toMatchObject({ word });
    expect(after(moved, { type: 'heard' })).toMatchObject({ word: null });
    expect(after(lobby, { type: 'told', word })).toBe(lobby);
  });
});

describe('afterwards', () => {
  const left = reduce(inside, { type: 'leave' }, 4 * minute);

  test('nothing comes back by itself', () => {
    expect(taskOf(left)).toBeNull();
  });

  test('one press comes back, with the same name', () => {
    const coming = after(left, { type: 'comeBack' });
    expect(taskOf(coming)).toMatchObject({ do: 'takeSeat', arrival: { name: 'Ben' } });
    expect(after(coming, { type: 'seated', seat }, { type: 'connected' }).at).toBe('room');
  });

  test('a room that ended meanwhile says so, and how long it was', () => {
    expect(after(left, { type: 'comeBack' }, refusal('room_ended'))).toMatchObject({ at: 'refused', stayMs: minute });
  });
});

test('the end of the room leads on for those who were in it, and for nobody else', () => {
  const leading: Seat = { ...seat, logout_url: 'https://example.org/bye' };
  const was = after(lobby, { type: 'join', name: 'Ben' }, { type: 'seated', seat: leading }, { type: 'connected' }, { type: 'dropped', loss: 'deleted' });
  expect(after(was, refusal('room_ended'))).toMatchObject({ onward: 'https://example.org/bye' });
  expect(after(was, refusal('project_suspended'))).toMatchObject({ onward: null });
  expect(after(lobby, { type: 'join', name: 'Ben' }, refusal('room_ended'))).toMatchObject({ onward: null });
});

test('what comes too late changes nothing', () => {
  for (const visit of [lobby, inside, after(inside, { type: 'leave' })]) {
    for (const event of [{ type: 'connected' }, { type: 'notConnected' }, { type: 'steady' }, { type: 'seated', seat }] as const) {
      expect(reduce(visit, event, 0)).toBe(visit);
    }
  }
  expect(reduce(lobby, { type: 'dropped', loss: 'lost' }, 0)).toBe(lobby);
});
