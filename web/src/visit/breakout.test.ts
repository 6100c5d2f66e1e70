import { describe, expect, test } from 'vitest';
import type { Seat } from '../api/client';
import { after, inside, lobby, refusal, seat } from './sample';
import { taskOf } from './task';

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
