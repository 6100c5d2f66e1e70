import { describe, expect, test } from 'vitest';
import { after, preview, refusal, waitOf } from './sample';
import { opening, type Event } from './state';
import { taskOf } from './task';

describe('a scheduled room', () => {
  const start = Date.parse('2026-01-01T01:00:00Z');
  const scheduled = preview({ state: 'scheduled', start_time: '2026-01-01T01:00:00Z', opens_at: '2026-01-01T01:00:00Z' });
  const early = after(opening, { type: 'previewed', preview: scheduled });
  const eager = after(early, { type: 'wait', name: 'Ben' });
  const opened: Event = { type: 'previewed', preview: { ...scheduled, state: 'open' } };

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
    const back = after(knocking, refusal('room_not_open'));
    expect(back).toMatchObject({ at: 'lobby', eager: true, arrival: null });
    expect(taskOf(back)?.do).toBe('preview');
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
    const you = { ...scheduled.you, role: 'host', name: 'Amina', link: 'ok' } as const;
    const waiting = after(opening, { type: 'previewed', preview: { ...scheduled, you } }, { type: 'wait', name: 'Amina' });
    const taken = { ...scheduled, you: { ...scheduled.you, link: 'taken' } as const };
    expect(after(waiting, { type: 'previewed', preview: taken })).toMatchObject({ notice: 'linkTaken', eager: false, typed: null });
  });
});
