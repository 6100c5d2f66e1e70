import { describe, expect, test } from 'vitest';
import { applyEvents, delayOf, inside, lobby, preview, refused, rejoining, seat } from './fixtures';
import type { Visit } from './state';
import { taskOf } from './task';

describe('a visitor who has to be admitted', () => {
  const joining = applyEvents(lobby, { type: 'join', name: 'Ben' });
  const waiting = applyEvents(joining, { type: 'mustWait', pauseMs: 2_000, hostPresent: true });

  test('asks again exactly after the pause that the server sets', () => {
    expect(waiting).toMatchObject({ at: 'lobby', joinAttempt: { name: 'Ben', knocks: 1 } });
    // A page that was in the background asks as soon as it is visible.
    expect(taskOf(waiting)).toMatchObject({ do: 'reserveSeat', fixedDelay: false });
    expect(delayOf(taskOf(waiting), 1)).toBe(2_000);
    const still = applyEvents(waiting, { type: 'mustWait', pauseMs: 5_000, hostPresent: true });
    expect(taskOf(still)?.key).not.toBe(taskOf(waiting)?.key);
    expect(delayOf(taskOf(still), 0)).toBe(5_000);
  });

  test('joins automatically', () => {
    const seated = applyEvents(waiting, { type: 'seated', seat });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
    expect(applyEvents(seated, { type: 'connected' })).toMatchObject({ at: 'room', seat });
    // From here on it is a normal attempt.
    expect(applyEvents(seated, { type: 'notConnected' }, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({
      error: 'noMedia',
      joinAttempt: null,
    });
  });

  test('waits for an unreachable server without a limit', () => {
    let visit = waiting;
    for (let i = 0; i < 20; i++) visit = applyEvents(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ error: 'unreachable', joinAttempt: { knocks: 1, attempt: 20 } });
    expect(applyEvents(visit, { type: 'mustWait', pauseMs: 2_000, hostPresent: true })).toMatchObject({
      error: null,
      joinAttempt: { knocks: 2, attempt: 0 },
    });
    expect(delayOf(taskOf(applyEvents(waiting, refused('too_many_attempts', { waitMs: 9_000 }))), 0)).toBe(9_000);
  });

  test('learns whether a host is there', () => {
    const alone = applyEvents(waiting, { type: 'mustWait', pauseMs: 2_000, hostPresent: false });
    expect(waiting).toMatchObject({ joinAttempt: { hostPresent: true } });
    expect(alone).toMatchObject({ joinAttempt: { hostPresent: false } });
  });

  test('can stop waiting and keeps the name', () => {
    expect(applyEvents(waiting, { type: 'stopWaiting' })).toMatchObject({ at: 'lobby', joinAttempt: null, enteredName: 'Ben' });
    expect(applyEvents(joining, { type: 'stopWaiting' })).toBe(joining);
  });

  test('can ask again after being turned away, when the server allows it', () => {
    const turnedAway = applyEvents(waiting, refused('turned_away', { waitMs: 60_000 }));
    expect(turnedAway).toMatchObject({ at: 'refused', enteredName: 'Ben' });
    expect(taskOf(turnedAway)).toMatchObject({ do: 'preview', fixedDelay: true });
    expect(delayOf(taskOf(turnedAway), 0)).toBe(60_000);
    expect(applyEvents(turnedAway, { type: 'previewed', preview: preview() })).toMatchObject({
      at: 'lobby',
      enteredName: 'Ben',
      joinAttempt: null,
    });
  });

  test('asks only by the button when too many people wait', () => {
    expect(delayOf(taskOf(applyEvents(joining, refused('waiting_room_full', { waitMs: 10_000 }))), 0)).toBe(Infinity);
  });

  test.each<[string, Visit]>([
    ['after a lost connection', rejoining],
    ['after leaving', applyEvents(inside, { type: 'leave' }, { type: 'rejoin' })],
    ['after the session was closed', applyEvents(inside, { type: 'disconnected', cause: 'deleted' })],
  ])('returns to the lobby and asks to be admitted %s', (_, back) => {
    expect(taskOf(back)).toMatchObject(taskOf(back)?.do === 'preview' ? {} : { previewFirst: true });
    const waits = preview({ you: { role: 'guest', name: 'Ben', returning: true, waits: true } });
    const asking = applyEvents(back, { type: 'previewed', preview: waits });
    expect(asking).toMatchObject({ at: 'lobby', preview: waits, enteredName: 'Ben', notice: null, joinAttempt: { name: 'Ben' } });
    expect(taskOf(asking)).toMatchObject({ do: 'reserveSeat', previewFirst: false });
    const waitsAgain = applyEvents(asking, { type: 'mustWait', pauseMs: 2_000, hostPresent: true });
    expect(applyEvents(waitsAgain, { type: 'stopWaiting' })).toMatchObject({ at: 'lobby', joinAttempt: null, enteredName: 'Ben' });
    // The time of the first entry is kept.
    const joined = applyEvents(waitsAgain, { type: 'seated', seat }, { type: 'connected' });
    expect(joined).toMatchObject({ at: 'room', joinedAt: asking.at === 'lobby' && asking.joinedAt });
  });

  test('asks for a preview again when the waiting room was turned on after it', () => {
    const mustWait = { type: 'mustWait', pauseMs: 2_000, hostPresent: true } as const;
    for (const back of [rejoining, applyEvents(inside, { type: 'leave' }, { type: 'rejoin' })]) {
      const later = applyEvents(back, mustWait);
      expect(taskOf(later)).toMatchObject({ do: 'reserveSeat', previewFirst: true });
      expect(taskOf(later)?.key).not.toBe(taskOf(back)?.key);
      expect(delayOf(taskOf(later), 0)).toBe(2_000);
    }
  });
});

describe('a visitor whose network sends many join requests', () => {
  const joining = applyEvents(lobby, { type: 'join', name: 'Ben' });

  test('joins automatically after any number of pauses', () => {
    let visit = joining;
    for (let i = 0; i < 20; i++) {
      visit = applyEvents(visit, refused('too_many_joins', { waitMs: 7_000 }));
      expect(visit).toMatchObject({ at: 'lobby', error: 'busyNetwork', joinAttempt: { name: 'Ben' } });
      expect(taskOf(visit)).toMatchObject({ do: 'reserveSeat', fixedDelay: true });
      expect(delayOf(taskOf(visit), 0)).toBe(7_000);
    }
    const seated = applyEvents(visit, { type: 'seated', seat });
    expect(seated).toMatchObject({ error: null, joinAttempt: { attempt: 0 } });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
  });

  test('stays in the room while the page waits to rejoin', () => {
    expect(applyEvents(rejoining, refused('too_many_joins', { waitMs: 7_000 }))).toMatchObject({
      at: 'room',
      connection: { is: 'rejoining', joinAttempt: { pauseMs: 7_000 } },
    });
  });
});

describe('a visitor whom a host has removed', () => {
  const removed = applyEvents(inside, { type: 'disconnected', cause: 'removed' });

  test('asks once automatically and then by the button', () => {
    expect(taskOf(removed)).toMatchObject({ do: 'preview', fixedDelay: false });
    expect(delayOf(taskOf(removed), 0)).toBe(0);
    expect(delayOf(taskOf(applyEvents(removed, refused('removed'))), 0)).toBe(Infinity);
  });

  test('waits for a free seat when the seat went to the host of a full room', () => {
    const full = preview({ max_participants: 5, you: { role: 'guest', name: 'Ben', returning: true, full: true } });
    expect(applyEvents(removed, { type: 'previewed', preview: full })).toMatchObject({
      at: 'refused',
      error: { code: 'room_full', maxParticipants: full.max_participants },
      enteredName: 'Ben',
      polls: 0,
    });
    expect(applyEvents(removed, refused('removed'), { type: 'previewed', preview: full })).toMatchObject({ at: 'lobby' });
  });

  test('is told that they are still removed, and can ask again', () => {
    const stillRemoved = applyEvents(removed, refused('removed'));
    expect(stillRemoved).toMatchObject({ at: 'removed', polls: 1 });
    expect(taskOf(stillRemoved)?.key).not.toBe(taskOf(removed)?.key);
    expect(applyEvents(removed, { type: 'unreachable', waitMs: 0 })).toMatchObject({ at: 'removed', polls: 1 });
  });

  test('is in the lobby again after a host has readmitted them', () => {
    expect(applyEvents(removed, { type: 'previewed', preview: preview() })).toMatchObject({ at: 'lobby', enteredName: 'Ben' });
  });

  test('is told when the room has ended meanwhile', () => {
    expect(applyEvents(removed, refused('room_ended', { reason: 'host' }))).toMatchObject({
      at: 'refused',
      title: 'Standup',
      error: { code: 'room_ended' },
    });
  });
});
