import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { applyEvents, inside, lobby, refused, seat } from './fixtures';
import { taskOf } from './task';

describe('breakout rooms', () => {
  const breakoutSeat: Seat = { ...seat, session_id: 'room.2', media_token: 'second', breakout: { number: 1, name: 'Room 1' } };
  const moving = applyEvents(inside, { type: 'disconnected', cause: 'moved' });
  const inBreakout = applyEvents(moving, { type: 'seated', seat: breakoutSeat }, { type: 'connected' });

  test('a visitor who is moved takes the seat again and connects to its room', () => {
    expect(moving).toMatchObject({ at: 'room', connection: { is: 'rejoining', moving: true } });
    expect(taskOf(moving)).toMatchObject({ do: 'reserveSeat', joinAttempt: { name: 'Ben' } });
    expect(taskOf(applyEvents(moving, { type: 'seated', seat: breakoutSeat }))).toMatchObject({ do: 'connect', seat: breakoutSeat });
    expect(inBreakout).toMatchObject({ at: 'room', seat: breakoutSeat, connection: { is: 'connected' } });
  });

  test('events of the old connection are ignored during a move', () => {
    const seated = applyEvents(moving, { type: 'seated', seat: breakoutSeat });
    for (const cause of ['moved', 'lost', 'deleted'] as const) expect(applyEvents(seated, { type: 'disconnected', cause })).toBe(seated);
    expect(applyEvents(seated, { type: 'disconnected', cause: 'removed' }).at).toBe('removed');
  });

  test('a failed move is retried as a move', () => {
    const failed = applyEvents(
      moving,
      { type: 'unreachable', waitMs: 0 },
      { type: 'seated', seat: breakoutSeat },
      { type: 'notConnected' },
    );
    expect(failed).toMatchObject({ connection: { is: 'rejoining', moving: true, joinAttempt: { attempt: 2, seat: null } } });
  });

  test('a visitor in a closed one rejoins the main room without a preview', () => {
    const back = applyEvents(inBreakout, { type: 'disconnected', cause: 'deleted' });
    expect(back).toMatchObject({ connection: { is: 'rejoining', moving: true } });
    expect(taskOf(back)?.do).toBe('reserveSeat');
    expect(applyEvents(back, refused('room_ended', { reason: 'duration' }))).toMatchObject({
      at: 'refused',
      error: { reason: 'duration' },
    });
  });

  test('an announcement stays until it is dismissed, also after a move', () => {
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
