import { describe, expect, test } from 'vitest';
import { after, inside, lobby, preview, refusal, returning, seat, waitOf } from './sample';
import { taskOf } from './task';

describe('somebody who has to be let in', () => {
  const joining = after(lobby, { type: 'join', name: 'Ben' });
  const waiting = after(joining, { type: 'toWait', pauseMs: 2_000 });

  test('asks again when the server says, and nothing shortens that', () => {
    expect(waiting).toMatchObject({ at: 'lobby', arrival: { name: 'Ben', knocks: 1 } });
    expect(taskOf(waiting)).toMatchObject({ do: 'takeSeat', firm: true });
    expect(waitOf(taskOf(waiting), 1)).toBe(2_000);
    const still = after(waiting, { type: 'toWait', pauseMs: 5_000 });
    expect(taskOf(still)?.key).not.toBe(taskOf(waiting)?.key);
    expect(waitOf(taskOf(still), 0)).toBe(5_000);
  });

  test('comes in by themselves', () => {
    const seated = after(waiting, { type: 'seated', seat });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
    expect(after(seated, { type: 'connected' })).toMatchObject({ at: 'room', seat });
    // From here on it is an arrival like any other.
    expect(after(seated, { type: 'notConnected' }, { type: 'seated', seat }, { type: 'notConnected' })).toMatchObject({ trouble: 'noMedia', arrival: null });
  });

  test('waits for a server that is away, for as long as that takes', () => {
    let visit = waiting;
    for (let i = 0; i < 20; i++) visit = after(visit, { type: 'unreachable', waitMs: 0 });
    expect(visit).toMatchObject({ trouble: 'unreachable', arrival: { knocks: 1, attempt: 20 } });
    expect(after(visit, { type: 'toWait', pauseMs: 2_000 })).toMatchObject({ trouble: null, arrival: { knocks: 2, attempt: 0 } });
    expect(waitOf(taskOf(after(waiting, refusal('too_many_attempts', { waitMs: 9_000 }))), 0)).toBe(9_000);
  });

  test('may stop waiting, with the name still there', () => {
    expect(after(waiting, { type: 'giveUp' })).toMatchObject({ at: 'lobby', arrival: null, typed: 'Ben' });
    expect(after(joining, { type: 'giveUp' })).toBe(joining);
  });

  test('who is turned away may ask again when the server says', () => {
    const away = after(waiting, refusal('turned_away', { waitMs: 60_000 }));
    expect(away).toMatchObject({ at: 'refused', typed: 'Ben' });
    expect(taskOf(away)).toMatchObject({ do: 'preview', firm: true });
    expect(waitOf(taskOf(away), 0)).toBe(60_000);
    expect(after(away, { type: 'previewed', preview: preview() })).toMatchObject({ at: 'lobby', typed: 'Ben', arrival: null });
  });

  test('who finds too many waiting asks when they want to', () => {
    expect(waitOf(taskOf(after(joining, refusal('waiting_room_full', { waitMs: 10_000 }))), 0)).toBe(Infinity);
  });

  test('whoever was inside keeps coming back', () => {
    expect(after(returning, { type: 'toWait', pauseMs: 2_000 })).toMatchObject({ at: 'room', link: { is: 'returning', arrival: { attempt: 1, pauseMs: 2_000 } } });
  });
});

describe('somebody whose network joins a lot', () => {
  const joining = after(lobby, { type: 'join', name: 'Ben' });

  test('joins by themselves when it is their turn, however often they have to wait', () => {
    let visit = joining;
    for (let i = 0; i < 20; i++) {
      visit = after(visit, refusal('too_many_joins', { waitMs: 7_000 }));
      expect(visit).toMatchObject({ at: 'lobby', trouble: 'busyNetwork', arrival: { name: 'Ben' } });
      expect(taskOf(visit)).toMatchObject({ do: 'takeSeat', firm: true });
      expect(waitOf(taskOf(visit), 0)).toBe(7_000);
    }
    const seated = after(visit, { type: 'seated', seat });
    expect(seated).toMatchObject({ trouble: null, arrival: { attempt: 0 } });
    expect(taskOf(seated)).toMatchObject({ do: 'connect', seat });
  });

  test('who was inside stays while the page waits', () => {
    expect(after(returning, refusal('too_many_joins', { waitMs: 7_000 }))).toMatchObject({ at: 'room', link: { is: 'returning', arrival: { pauseMs: 7_000 } } });
  });
});

describe('somebody whom a host has removed', () => {
  const removed = after(inside, { type: 'dropped', loss: 'removed' });

  test('asks once whether it was a host, and then when they press', () => {
    expect(taskOf(removed)).toMatchObject({ do: 'preview', firm: false });
    expect(waitOf(taskOf(removed), 0)).toBe(0);
    expect(waitOf(taskOf(after(removed, refusal('removed'))), 0)).toBe(Infinity);
  });

  test('whose place went to the host of a full room waits for another one', () => {
    const full = preview({ participants: 5, max_participants: 5 });
    expect(after(removed, { type: 'previewed', preview: full })).toMatchObject({ at: 'refused', refusal: { code: 'room_full' }, typed: 'Ben', polls: 0 });
    expect(after(removed, refusal('removed'), { type: 'previewed', preview: full })).toMatchObject({ at: 'lobby' });
  });

  test('reads that they are still out, and may ask again', () => {
    const out = after(removed, refusal('removed'));
    expect(out).toMatchObject({ at: 'removed', polls: 1 });
    expect(taskOf(out)?.key).not.toBe(taskOf(removed)?.key);
    expect(after(removed, { type: 'unreachable', waitMs: 0 })).toMatchObject({ at: 'removed', polls: 1 });
  });

  test('is at the door again when a host has let them in', () => {
    expect(after(removed, { type: 'previewed', preview: preview() })).toMatchObject({ at: 'lobby', typed: 'Ben' });
  });

  test('reads what has become of the room meanwhile', () => {
    expect(after(removed, refusal('room_ended', { reason: 'host' }))).toMatchObject({ at: 'refused', title: 'Standup', refusal: { code: 'room_ended' } });
  });
});
