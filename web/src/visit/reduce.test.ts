import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { reduce } from './reduce';
import { after, host, inside, lobby, minute, preview, refusal, returning, seat, waitOf } from './sample';
import { opening } from './state';
import { taskOf } from './task';

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

  test('who is in the room already chooses where to be', () => {
    const there = preview({ you: { role: 'guest', name: 'Ben', returning: true } });
    const tab = after(opening, { type: 'previewed', preview: there, rival: true });
    expect(tab).toMatchObject({ at: 'twice', other: 'tab', staying: false });
    const device = preview({ you: { role: 'host', name: 'Ada', returning: false, elsewhere: true, link: 'ok' } });
    expect(after(opening, { type: 'previewed', preview: device })).toMatchObject({ at: 'twice', other: 'device' });

    const stays = after(tab, { type: 'stayThere' });
    expect(stays).toMatchObject({ at: 'twice', staying: true });
    for (const visit of [tab, stays]) {
      expect(taskOf(visit)).toBeNull();
      const here = after(visit, { type: 'joinHere' });
      expect(here).toMatchObject({ at: 'lobby', arrival: { name: 'Ben', role: 'guest' } });
      expect(taskOf(here)).toMatchObject({ do: 'takeSeat' });
    }
    // Nobody to be twice: the ways of the page lead nowhere from elsewhere.
    for (const visit of [lobby, inside]) {
      expect(after(visit, { type: 'joinHere' })).toBe(visit);
      expect(after(visit, { type: 'stayThere' })).toBe(visit);
    }
  });

  test('a link whose time is over is said, but not to somebody who was here before', () => {
    const you = { role: 'guest', name: '', returning: false, link: 'expired' } as const;
    expect(after(opening, { type: 'previewed', preview: preview({ you }) }).at).toBe('wrongLink');
    expect(after(opening, { type: 'previewed', preview: preview({ you: { ...you, returning: true } }) }).at).toBe('lobby');
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
    expect(after(inside, { type: 'dropped', loss: 'limited' })).toMatchObject({ at: 'away', why: 'limited' });
    expect(after(inside, { type: 'dropped', loss: 'removed' })).toMatchObject({ at: 'removed', title: 'Standup', typed: 'Ben' });
    const left = reduce(inside, { type: 'leave' }, 13 * minute);
    expect(left).toMatchObject({ at: 'away', why: 'left', stayMs: 10 * minute });
    expect(after(returning, { type: 'leave' })).toMatchObject({ at: 'away', why: 'left' });
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
