import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { applyEvents, inside, lobby, refusal, seat } from './fixtures';
import { taskOf } from './task';

describe('breakout rooms', () => {
  const there: Seat = { ...seat, session_id: 'room.2', media_token: 'second', breakout: { number: 1, name: 'Room 1' } };
  const told = applyEvents(inside, { type: 'disconnected', cause: 'moved' });
  const inBreakout = applyEvents(told, { type: 'seated', seat: there }, { type: 'connected' });

  test('who is told to move takes the seat again and goes where it is', () => {
    expect(told).toMatchObject({ at: 'room', connection: { is: 'rejoining', moving: true } });
    expect(taskOf(told)).toMatchObject({ do: 'takeSeat', joinAttempt: { name: 'Ben' } });
    expect(taskOf(applyEvents(told, { type: 'seated', seat: there }))).toMatchObject({ do: 'connect', seat: there });
    expect(inBreakout).toMatchObject({ at: 'room', seat: there, connection: { is: 'connected' } });
  });

  test('what the old place does meanwhile is not heeded', () => {
    const going = applyEvents(told, { type: 'seated', seat: there });
    for (const cause of ['moved', 'lost', 'deleted'] as const) expect(applyEvents(going, { type: 'disconnected', cause })).toBe(going);
    expect(applyEvents(going, { type: 'disconnected', cause: 'removed' }).at).toBe('removed');
  });

  test('a way that fails is the same way on the next attempt', () => {
    const failed = applyEvents(told, { type: 'unreachable', waitMs: 0 }, { type: 'seated', seat: there }, { type: 'notConnected' });
    expect(failed).toMatchObject({ connection: { is: 'rejoining', moving: true, joinAttempt: { attempt: 2, seat: null } } });
  });

  test('who is in one that is closed comes back without asking why', () => {
    const back = applyEvents(inBreakout, { type: 'disconnected', cause: 'deleted' });
    expect(back).toMatchObject({ connection: { is: 'rejoining', moving: true } });
    expect(taskOf(back)?.do).toBe('takeSeat');
    expect(applyEvents(back, refusal('room_ended', { reason: 'duration' }))).toMatchObject({ at: 'refused', refusal: { reason: 'duration' } });
  });

  test('a word to everybody stays until it is read, wherever one is', () => {
    const announcement = { text: 'Five more minutes.', from: 'Amina' };
    const heard = applyEvents(inside, { type: 'announced', announcement });
    expect(heard).toMatchObject({ announcement: announcement });
    const moved = applyEvents(heard, { type: 'disconnected', cause: 'moved' }, { type: 'seated', seat: there }, { type: 'connected' });
    expect(moved).toMatchObject({ announcement: announcement });
    expect(applyEvents(moved, { type: 'dismissed' })).toMatchObject({ announcement: null });
    expect(applyEvents(lobby, { type: 'announced', announcement })).toBe(lobby);
  });
});
