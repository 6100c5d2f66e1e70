import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { applyEvents, delayOf, host, inside, lobby, minute, preview, refused, rejoining, seat } from './fixtures';
import { reduce } from './reduce';
import { type Event, opening } from './state';
import { taskOf } from './task';
import { endedWait } from './title';

describe('before joining', () => {
  test('a preview leads to the first view', () => {
    expect(lobby).toMatchObject({ at: 'lobby', notice: null, joinAttempt: null });
  });

  test('who is here is asked again every ten seconds or so, and changes nothing else', () => {
    expect([0, 1].map((random) => delayOf(taskOf(lobby), random))).toEqual([8_000, 12_000]);
    const others = { count: 2, names: ['Amina', 'Chen'] };
    const polled = applyEvents(lobby, { type: 'previewed', preview: preview({ others, host_present: false }) });
    expect(polled).toMatchObject({ at: 'lobby', notice: null, joinAttempt: null, preview: { others, host_present: false } });
    expect(taskOf(polled)?.key).not.toBe(taskOf(lobby)?.key);
  });

  test('a preview without a response is requested again with a growing delay', () => {
    const unreachable = applyEvents(opening, { type: 'unreachable', waitMs: 0 }, { type: 'unreachable', waitMs: 0 });
    expect(unreachable).toMatchObject({ at: 'opening', attempt: 2 });
    expect(delayOf(taskOf(opening), 1)).toBe(0);
    expect(delayOf(taskOf(unreachable), 1)).toBe(800);
    expect(delayOf(taskOf(applyEvents(opening, { type: 'unreachable', waitMs: 7000 })), 1)).toBe(7000);
  });

  test('an unknown link is reported, and the visitor can join as a guest', () => {
    const wrong = applyEvents(opening, {
      type: 'previewed',
      preview: preview({ you: { role: 'guest', name: '', returning: false, link: 'unknown' } }),
    });
    expect(wrong.at).toBe('wrongLink');
    expect(applyEvents(wrong, { type: 'joinAsGuest' })).toMatchObject({ at: 'lobby', notice: null });
  });

  test('a host link that somebody else used is reported in the lobby', () => {
    const taken = preview({ you: { role: 'guest', name: '', returning: false, link: 'taken' } });
    expect(applyEvents(opening, { type: 'previewed', preview: taken })).toMatchObject({ at: 'lobby', notice: 'linkTaken' });
  });

  test('a visitor who is already in the room chooses where to be', () => {
    const returning = preview({ you: { role: 'guest', name: 'Ben', returning: true } });
    const tab = applyEvents(opening, { type: 'previewed', preview: returning, duplicateTab: true });
    expect(tab).toMatchObject({ at: 'alreadyJoined', other: 'tab', staying: false });
    const device = preview({ you: { role: 'host', name: 'Ada', returning: false, elsewhere: true, link: 'ok' } });
    expect(applyEvents(opening, { type: 'previewed', preview: device })).toMatchObject({ at: 'alreadyJoined', other: 'device' });

    const staying = applyEvents(tab, { type: 'stayThere' });
    expect(staying).toMatchObject({ at: 'alreadyJoined', staying: true });
    for (const visit of [tab, staying]) {
      expect(taskOf(visit)).toBeNull();
      const joining = applyEvents(visit, { type: 'joinHere' });
      expect(joining).toMatchObject({ at: 'lobby', joinAttempt: { name: 'Ben', role: 'guest' } });
      expect(taskOf(joining)).toMatchObject({ do: 'reserveSeat' });
    }
    // In other states these events do nothing.
    for (const visit of [lobby, inside]) {
      expect(applyEvents(visit, { type: 'joinHere' })).toBe(visit);
      expect(applyEvents(visit, { type: 'stayThere' })).toBe(visit);
    }
  });

  test('an expired link is reported, except to a returning visitor', () => {
    const you = { role: 'guest', name: '', returning: false, link: 'expired' } as const;
    expect(applyEvents(opening, { type: 'previewed', preview: preview({ you }) }).at).toBe('wrongLink');
    expect(applyEvents(opening, { type: 'previewed', preview: preview({ you: { ...you, returning: true } }) }).at).toBe('lobby');
  });
});

describe('joining', () => {
  test('takes a seat, then connects, then is in the room', () => {
    const joining = applyEvents(lobby, { type: 'join', name: 'Ben' });
    expect(taskOf(joining)).toMatchObject({ do: 'reserveSeat', joinAttempt: { name: 'Ben', role: 'guest' } });
    expect(applyEvents(joining, { type: 'join', name: 'Twice' })).toBe(joining);
    const seated = applyEvents(joining, { type: 'seated', seat });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
    expect(reduce(seated, { type: 'connected' }, 42)).toEqual({
      at: 'room',
      seat,
      joinedAt: 42,
      connection: { is: 'connected' },
      announcement: null,
      endedByVisitor: false,
    });
    expect(taskOf(inside)).toBeNull();
  });

  test.each([
    ['was used', 'taken', { at: 'lobby', notice: 'linkTaken', enteredName: null, joinAttempt: null }],
    ['has expired', 'expired', { at: 'wrongLink' }],
  ] as const)('a host link that %s since the preview makes the visitor a guest without a name', (_, link, expected) => {
    const afterError = applyEvents(opening, { type: 'previewed', preview: host }, { type: 'join', name: 'Amina' }, refused('link_taken'));
    expect(afterError).toEqual(opening);
    const guest = preview({ you: { ...host.you, role: 'guest', name: '', link } });
    const again = applyEvents(afterError, { type: 'previewed', preview: guest });
    expect(again).toMatchObject({ ...expected, preview: guest });
  });

  test('a refused name is reported in the lobby', () => {
    expect(applyEvents(lobby, { type: 'join', name: 'x' }, refused('invalid_request'))).toMatchObject({
      at: 'lobby',
      error: 'name',
      joinAttempt: null,
    });
  });

  test('an unreachable server is retried a few times, then the visitor has to press again', () => {
    let visit = applyEvents(lobby, { type: 'join', name: 'Ben' }, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ error: 'unreachable', joinAttempt: { attempt: 1 } });
    for (let i = 0; i < 5; i++) visit = applyEvents(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ at: 'lobby', error: 'gaveUp', joinAttempt: null, enteredName: 'Ben' });
  });

  test('a failed media connection is reported after the second attempt', () => {
    const seated = applyEvents(lobby, { type: 'join', name: 'Ben' }, { type: 'seated', seat });
    const second = applyEvents(seated, { type: 'notConnected' });
    expect(second).toMatchObject({ at: 'lobby', error: null, joinAttempt: { attempt: 1, seat: null } });
    expect(applyEvents(second, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({ error: 'noMedia', joinAttempt: null });
  });

  test('a full room is polled for a free seat, and the name is kept', () => {
    const full = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'));
    expect(full).toMatchObject({ at: 'refused', title: 'Standup', durationMs: null });
    const polled = applyEvents(full, {
      type: 'previewed',
      preview: preview({ you: { role: 'guest', name: '', returning: false, full: true } }),
    });
    expect(polled).toMatchObject({ at: 'refused', polls: 1 });
    expect(taskOf(polled)?.key).not.toBe(taskOf(full)?.key);
    expect(delayOf(taskOf(polled), 1)).toBe(2_000);
    expect(delayOf(taskOf({ ...polled, polls: 200 } as typeof polled), 0)).toBe(4_000);
    expect(applyEvents(polled, { type: 'previewed', preview: preview() })).toMatchObject({
      at: 'lobby',
      notice: 'free',
      enteredName: 'Ben',
    });
  });

  test('a visitor who had a seat before waits like the others', () => {
    const full = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'));
    const you = { role: 'guest', name: 'Ben', returning: true } as const;
    expect(applyEvents(full, { type: 'previewed', preview: preview({ you: { ...you, full: true } }) })).toMatchObject({ at: 'refused' });
    expect(applyEvents(full, { type: 'previewed', preview: preview({ you }) })).toMatchObject({ at: 'lobby', notice: 'free' });
  });

  test('the notice of a free seat ends when somebody else has taken it', () => {
    const you = { role: 'guest', name: '', returning: false } as const;
    const full: Event = { type: 'previewed', preview: preview({ max_participants: 5, you: { ...you, full: true } }) };
    const free = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'), { type: 'previewed', preview: preview() });
    expect(endedWait(free)).toBe('free');
    const taken = applyEvents(free, full);
    expect(taken).toMatchObject({ at: 'lobby', enteredName: 'Ben', notice: 'full' });
    expect(endedWait(taken)).toBeNull();
    expect(delayOf(taskOf(taken), 0)).toBe(1_000);
    expect(applyEvents(taken, { type: 'previewed', preview: preview() })).toMatchObject({ notice: 'free' });
    // This visitor does not wait for a seat.
    expect(applyEvents(lobby, full)).toMatchObject({ at: 'lobby', notice: null });
    expect(endedWait(applyEvents(free, { type: 'join', name: 'Ben' }))).toBeNull();
  });

  test('a visitor whom a host has to admit is not told to join', () => {
    const you = { role: 'guest', name: 'Ben', returning: true, waits: true } as const;
    const full = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'));
    expect(applyEvents(full, { type: 'previewed', preview: preview({ you: { ...you, full: true } }) })).toMatchObject({ at: 'refused' });
    const asks = applyEvents(full, { type: 'previewed', preview: preview({ you }) });
    expect(asks).toMatchObject({ at: 'lobby', notice: null });
    expect(endedWait(asks)).toBeNull();
  });

  test('a link that another browser has used does not hide that a seat is free', () => {
    const you = { role: 'guest', name: '', returning: false, link: 'taken' } as const;
    const full = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'));
    expect(applyEvents(full, { type: 'previewed', preview: preview({ you }) })).toMatchObject({ at: 'lobby', notice: 'free' });
  });

  test('a server that limits a network does not end the wait for a seat', () => {
    const full = applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full'));
    const limited = applyEvents(full, refused('too_many_attempts', { waitMs: 9_000 }));
    expect(limited).toMatchObject({ at: 'refused', error: { code: 'room_full' }, polls: 1 });
    expect(delayOf(taskOf(limited), 0)).toBe(9_000);
    expect(taskOf(limited)?.fixedDelay).toBe(true);
    const you = { role: 'guest', name: '', returning: false, full: true } as const;
    expect(delayOf(taskOf(applyEvents(limited, { type: 'previewed', preview: preview({ you }) })), 0)).toBe(1_000);
  });

  test('the page of an ended room has its title, if the server tells it', () => {
    expect(applyEvents(opening, refused('room_ended', { title: 'Standup' }))).toMatchObject({ at: 'refused', title: 'Standup' });
    expect(applyEvents(opening, refused('room_ended'))).toMatchObject({ title: null });
  });

  test('a final error is not polled', () => {
    expect(taskOf(applyEvents(opening, refused('room_ended')))).toBeNull();
    expect(delayOf(taskOf(applyEvents(opening, refused('room_not_found'))), 0)).toBe(Infinity);
    const waiting = taskOf(applyEvents(opening, refused('too_many_attempts', { waitMs: 40_000 })));
    expect(delayOf(waiting, 0)).toBe(40_000);
    expect(waiting?.fixedDelay).toBe(true);
  });
});

describe('in the room', () => {
  test('a short disturbance starts no task', () => {
    const reconnecting = applyEvents(inside, { type: 'reconnecting' });
    expect(reconnecting).toMatchObject({ connection: { is: 'reconnecting' } });
    expect(taskOf(reconnecting)).toBeNull();
    expect(applyEvents(reconnecting, { type: 'reconnected' })).toMatchObject({ connection: { is: 'connected' } });
  });

  test('a visitor who comes back does not wait long for a node that does not respond, and longer each time', () => {
    const timeouts = [0, 1, 2, 3, 10].map((failures) => {
      let visit = rejoining;
      for (let i = 0; i < failures; i++) visit = applyEvents(visit, { type: 'unreachable', waitMs: 0 });
      const [reserve, connect] = [taskOf(visit), taskOf(applyEvents(visit, { type: 'seated', seat }))];
      expect(connect).toMatchObject({ do: 'connect', timeoutMs: (reserve as { timeoutMs: number }).timeoutMs });
      return (reserve as { timeoutMs: number }).timeoutMs;
    });
    expect(timeouts[0]).toBe(2_500);
    for (const [i, timeoutMs] of timeouts.slice(1).entries()) expect(timeoutMs).toBeGreaterThan(timeouts[i] as number);
    expect(timeouts.at(-1)).toBe(8_000);
  });

  test('a lost connection is restored with the same seat, without a limit', () => {
    expect(taskOf(rejoining)).toMatchObject({ do: 'reserveSeat', joinAttempt: { name: 'Ben', role: 'guest', attempt: 0 } });
    expect(delayOf(taskOf(rejoining), 1)).toBe(0);
    let visit = rejoining;
    for (let i = 0; i < 100; i++) visit = applyEvents(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ at: 'room', connection: { is: 'rejoining', joinAttempt: { attempt: 100 } } });
    expect(delayOf(taskOf(visit), 1)).toBe(5_000);
    const again = { ...seat, media_token: 'second' };
    const back = applyEvents(visit, { type: 'seated', seat: again }, { type: 'connected' });
    expect(back).toMatchObject({ at: 'room', connection: { is: 'connected' }, seat: again });
    expect(back.at === 'room' && inside.at === 'room' && back.joinedAt === inside.joinedAt).toBe(true);
  });

  test('a failed connection while rejoining starts with the seat again', () => {
    expect(applyEvents(rejoining, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({
      connection: { is: 'rejoining', joinAttempt: { attempt: 1, seat: null } },
    });
  });

  test('a page that lost the connection requests a preview before each seat, and does not displace another device', () => {
    const you = { role: 'guest', name: 'Ben', returning: true } as const;
    const retrying = applyEvents(rejoining, { type: 'unreachable', waitMs: 0 });
    for (const visit of [rejoining, retrying]) {
      expect(taskOf(visit)).toMatchObject({ do: 'reserveSeat', previewFirst: true });
      expect(applyEvents(visit, { type: 'previewed', preview: preview({ you }) })).toBe(visit);
    }
    const elsewhere: Event = { type: 'previewed', preview: preview({ you: { ...you, returning: false, elsewhere: true } }) };
    const asking = applyEvents(inside, { type: 'disconnected', cause: 'deleted' });
    for (const visit of [rejoining, retrying, asking]) {
      expect(applyEvents(visit, elsewhere)).toMatchObject({ at: 'left', reason: 'elsewhere', joinAttempt: null });
    }
    expect(applyEvents(inside, elsewhere)).toBe(inside);
  });

  test('a visitor who moves takes the seat at once', () => {
    const moving = applyEvents(inside, { type: 'disconnected', cause: 'moved' });
    expect(taskOf(moving)).toMatchObject({ do: 'reserveSeat', previewFirst: false });
    // Another device may have joined by the time of another attempt.
    expect(taskOf(applyEvents(moving, { type: 'unreachable', waitMs: 0 }))).toMatchObject({ previewFirst: true });
  });

  test('a rate limit while rejoining is waited for and not shown', () => {
    const busy = applyEvents(rejoining, refused('too_many_attempts', { waitMs: 9_000 }));
    expect(busy).toMatchObject({ at: 'room', connection: { is: 'rejoining' } });
    expect(delayOf(taskOf(busy), 0)).toBe(9_000);
  });

  test('an error while rejoining shows its page with the duration', () => {
    expect(reduce(rejoining, refused('room_ended', { reason: 'duration' }), 27 * minute)).toMatchObject({
      at: 'refused',
      error: { reason: 'duration' },
      durationMs: 24 * minute,
    });
  });

  test('a deleted room is followed by a preview, to find out the reason', () => {
    const asking = applyEvents(inside, { type: 'disconnected', cause: 'deleted' });
    expect(taskOf(asking)?.do).toBe('preview');
    expect(applyEvents(asking, refused('room_ended', { reason: 'host' }))).toMatchObject({ at: 'refused', error: { reason: 'host' } });
    expect(applyEvents(asking, { type: 'unreachable', waitMs: 0 })).toMatchObject({ connection: { is: 'checking', attempt: 1 } });
    expect(applyEvents(asking, { type: 'previewed', preview: preview() })).toMatchObject({ connection: { is: 'rejoining' } });
  });

  test('a host who ended the room sees that they did, in any order of the messages', () => {
    const ended = refused('room_ended', { reason: 'host' });
    const closed = { type: 'disconnected', cause: 'deleted' } as const;
    for (const events of [
      [{ type: 'ended' } as const, closed, ended],
      [closed, { type: 'ended' } as const, ended],
      [closed, ended, { type: 'ended' } as const],
    ]) {
      expect(applyEvents(inside, ...events)).toMatchObject({ at: 'refused', endedByVisitor: true });
    }
    expect(applyEvents(inside, closed, ended)).toMatchObject({ endedByVisitor: false });
  });

  test('another tab, a removal and leaving each have their own page', () => {
    expect(applyEvents(inside, { type: 'disconnected', cause: 'elsewhere' })).toMatchObject({ at: 'left', reason: 'elsewhere' });
    expect(applyEvents(inside, { type: 'disconnected', cause: 'limited' })).toMatchObject({ at: 'left', reason: 'limited' });
    expect(applyEvents(inside, { type: 'disconnected', cause: 'removed' })).toMatchObject({
      at: 'removed',
      title: 'Standup',
      enteredName: 'Ben',
    });
    const left = reduce(inside, { type: 'leave' }, 13 * minute);
    expect(left).toMatchObject({ at: 'left', reason: 'left', durationMs: 10 * minute });
    expect(applyEvents(rejoining, { type: 'leave' })).toMatchObject({ at: 'left', reason: 'left' });
  });
});

describe('afterwards', () => {
  const left = reduce(inside, { type: 'leave' }, 4 * minute);

  test('the page does not rejoin by itself', () => {
    expect(taskOf(left)).toBeNull();
  });

  test('the button rejoins with the same name', () => {
    const rejoiningVisit = applyEvents(left, { type: 'rejoin' });
    expect(taskOf(rejoiningVisit)).toMatchObject({ do: 'reserveSeat', joinAttempt: { name: 'Ben' } });
    expect(applyEvents(rejoiningVisit, { type: 'seated', seat }, { type: 'connected' }).at).toBe('room');
  });

  test('a visitor who joined on another device meanwhile chooses where to be', () => {
    const you = { role: 'guest', name: 'Ben', returning: false, elsewhere: true } as const;
    const elsewhere: Event = { type: 'previewed', preview: preview({ you }) };
    const returning = applyEvents(left, { type: 'rejoin' });
    expect(taskOf(returning)).toMatchObject({ do: 'reserveSeat', previewFirst: true });
    const asked = applyEvents(returning, elsewhere);
    expect(asked).toMatchObject({ at: 'alreadyJoined', other: 'device', staying: false });
    // The time of the first entry is kept.
    expect(applyEvents(asked, { type: 'joinHere' })).toMatchObject({
      at: 'lobby',
      joinedAt: asked.at === 'alreadyJoined' && asked.joinedAt,
    });
    expect(asked).not.toMatchObject({ joinedAt: null });
    expect(applyEvents(left, elsewhere)).toBe(left);
    // Continue here is the choice.
    const continuing = applyEvents(inside, { type: 'disconnected', cause: 'elsewhere' }, { type: 'rejoin' });
    expect(applyEvents(continuing, elsewhere)).toBe(continuing);
  });

  test('a room that ended meanwhile is reported with the duration', () => {
    expect(applyEvents(left, { type: 'rejoin' }, refused('room_ended'))).toMatchObject({ at: 'refused', durationMs: minute });
  });
});

test('only visitors who were in the room are redirected at its end', () => {
  const seatWithRedirect: Seat = { ...seat, logout_url: 'https://example.org/bye' };
  const was = applyEvents(
    lobby,
    { type: 'join', name: 'Ben' },
    { type: 'seated', seat: seatWithRedirect },
    { type: 'connected' },
    { type: 'disconnected', cause: 'deleted' },
  );
  expect(applyEvents(was, refused('room_ended'))).toMatchObject({ redirectUrl: 'https://example.org/bye' });
  expect(applyEvents(was, refused('project_suspended'))).toMatchObject({ redirectUrl: null });
  expect(applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_ended'))).toMatchObject({ redirectUrl: null });
});

test('late events change nothing', () => {
  for (const visit of [lobby, inside, applyEvents(inside, { type: 'leave' })]) {
    for (const event of [{ type: 'connected' }, { type: 'notConnected' }, { type: 'reconnected' }, { type: 'seated', seat }] as const) {
      expect(reduce(visit, event, 0)).toBe(visit);
    }
  }
  expect(reduce(lobby, { type: 'disconnected', cause: 'lost' }, 0)).toBe(lobby);
});
