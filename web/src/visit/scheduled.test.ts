import { describe, expect, test } from 'vitest';
import { applyEvents, delayOf, preview, refused } from './fixtures';
import { type Event, opening } from './state';
import { taskOf } from './task';

describe('a scheduled room', () => {
  const start = Date.parse('2026-01-01T01:00:00Z');
  const scheduled = preview({ state: 'scheduled', start_time: '2026-01-01T01:00:00Z', opens_at: '2026-01-01T01:00:00Z' });
  const early = applyEvents(opening, { type: 'previewed', preview: scheduled });
  const willJoin = applyEvents(early, { type: 'joinOnOpen', name: 'Ben' });
  const opened: Event = { type: 'previewed', preview: { ...scheduled, state: 'open' } };

  test('is polled while the lobby is shown', () => {
    expect(early).toMatchObject({ at: 'lobby', joinOnOpen: false, joinAttempt: null });
    expect(taskOf(early)?.do).toBe('preview');
    const asked = applyEvents(early, { type: 'previewed', preview: scheduled });
    expect(asked).toMatchObject({ at: 'lobby', polls: 1, notice: null });
    expect(taskOf(asked)?.key).not.toBe(taskOf(early)?.key);
  });

  test('is joined automatically when the visitor asked for it; others are notified', () => {
    expect(applyEvents(willJoin, opened)).toMatchObject({ at: 'lobby', joinAttempt: { name: 'Ben', attempt: 0 } });
    expect(applyEvents(early, opened)).toMatchObject({ at: 'lobby', joinAttempt: null, notice: 'open' });
    const byHost: Event = { type: 'previewed', preview: preview({ state: 'active' }) };
    expect(applyEvents(willJoin, byHost)).toMatchObject({ joinAttempt: { name: 'Ben' } });
    expect(applyEvents(willJoin, { type: 'joinOnOpen', name: null }, opened)).toMatchObject({ joinAttempt: null, enteredName: 'Ben' });
  });

  test('is joined under the latest name', () => {
    expect(applyEvents(willJoin, { type: 'joinOnOpen', name: 'Benno' }, opened)).toMatchObject({ joinAttempt: { name: 'Benno' } });
  });

  test('is polled again when it was not open after all', () => {
    const joining = applyEvents(willJoin, opened);
    const back = applyEvents(joining, refused('room_not_open'));
    expect(back).toMatchObject({ at: 'lobby', joinOnOpen: true, joinAttempt: null });
    expect(taskOf(back)?.do).toBe('preview');
  });

  test('is refused with the reason when it is canceled', () => {
    const cancelled = applyEvents(willJoin, refused('room_ended', { reason: 'cancelled' }));
    expect(cancelled).toMatchObject({ at: 'refused', error: { reason: 'cancelled' }, title: 'Standup', durationMs: null });
  });

  test('is polled again after the server was unreachable or limited the rate', () => {
    const away = applyEvents(willJoin, { type: 'unreachable', waitMs: 0 });
    expect(away).toMatchObject({ at: 'lobby', joinOnOpen: true, error: null });
    expect(delayOf(taskOf(away), 0, start)).toBe(2_000);
    expect(delayOf(taskOf(applyEvents(willJoin, refused('too_many_attempts', { waitMs: 9_000 }))), 0, start)).toBe(9_000);
  });

  test('asks for a new name when somebody else used the host link', () => {
    const you = { ...scheduled.you, role: 'host', name: 'Amina', link: 'ok' } as const;
    const waiting = applyEvents(opening, { type: 'previewed', preview: { ...scheduled, you } }, { type: 'joinOnOpen', name: 'Amina' });
    const taken = { ...scheduled, you: { ...scheduled.you, link: 'taken' } as const };
    expect(applyEvents(waiting, { type: 'previewed', preview: taken })).toMatchObject({
      notice: 'linkTaken',
      joinOnOpen: false,
      enteredName: null,
    });
  });
});
