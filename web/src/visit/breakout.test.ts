import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { applyEvents, inside, lobby, refusal, seat } from './fixtures';
import { taskOf } from './task';

describe('breakout rooms', () => {
  const breakoutSeat: Seat = { ...seat, session_id: 'room.2', media_token: 'second', breakout: { number: 1, name: 'Room 1' } };
  const moving = applyEvents(inside, { type: 'disconnected', cause: 'moved' });
  const inBreakout = applyEvents(moving, { type: 'seated', seat: breakoutSeat }, { type: 'connected' });

  test('who is told to move takes the seat again and goes where it is', () => {
    expect(moving).toMatchObject({ at: 'room', connection: { is: 'rejoining', moving: true } });
    expect(taskOf(moving)).toMatchObject({ do: 'takeSeat', joinAttempt: { name: 'Ben' } });
    expect(taskOf(applyEvents(moving, { type: 'seated', seat: breakoutSeat }))).toMatchObject({ do: 'connect', seat: breakoutSeat });
    expect(inBreakout).toMatchObject({ at: 'room', seat: breakoutSeat, connection: { is: 'connected' } });
  });

  test('what the old place does meanwhile is not heeded', () => {
    const seated = applyEvents(moving, { type: 'seated', seat: breakoutSeat });
    for (const cause of ['moved', 'lost', 'deleted'] as const) expect(applyEvents(seated, { type: 'disconnected', cause })).toBe(seated);
    expect(applyEvents(seated, { type: 'disconnected', cause: 'removed' }).at).toBe('removed');
  });

  test('a way that fails is the same way on the next attempt', () => {
    const failed = applyEvents(
      moving,
      { type: 'unreachable', waitMs: 0 },
      { type: 'seated', seat: breakoutSeat },
      { type: 'notConnected' },
    );
    expect(failed).toMatchObject({ connection: { is: 'rejoining', moving: true, joinAttempt: { attempt: 2, seat: null } } });
  });

  test('who is in one that is closed comes back without asking why', () => {
    const back = applyEvents(inBreakout, { type: 'disconnected', cause: 'deleted' });
    expect(back).toMatchObject({ connection: { is: 'rejoining', moving: true } });
    expect(taskOf(back)?.do).toBe('takeSeat');
    expect(applyEvents(back, refusal('room_ended', { reason: 'duration' }))).toMatchObject({
      at: 'refused',
      refusal: { reason: 'duration' },
    });
  });

  test('a word to everybody stays until it is read, wherever one is', () => {
    const announcement = { text: 'Five more minutes.', from: 'Amina' };
    const announced = applyEvents(inside, { type: 'announced', announcement });
    expect(announced).toMatchObject({ announcement: announcement });
    const afterMove = applyEvents(
      announced,
      { type: 'disconnected', cause: 'moved' },
      { type: 'seated', seat: breakoutSeat },
      { type: 'connected' },
    );
    expect(afterMove).toMatchObject({ announcement: announcement });
    expect(applyEvents(afterMove, { type: 'dismissed' })).toMatchObject({ announcement: null });
    expect(applyEvents(lobby, { type: 'announced', announcement })).toBe(lobby);
  });
});
