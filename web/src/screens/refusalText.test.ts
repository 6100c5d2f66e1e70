import { expect, test } from 'vitest';
import type { EndReason, RefusalCode } from '../api/client';
import { refusalText } from './refusalText';

const codes: RefusalCode[] = [
  'invalid_request',
  'unsupported_media_type',
  'body_too_large',
  'room_not_found',
  'room_ended',
  'room_not_open',
  'room_full',
  'project_inactive',
  'project_suspended',
  'link_taken',
  'invitation_required',
  'too_many_attempts',
  'removed',
  'turned_away',
  'waiting_room_full',
  'too_many_joins',
  'unavailable',
  'internal',
];
const reasons: EndReason[] = ['host', 'api', 'empty_timeout', 'duration', 'project_suspended', 'server', 'expired', 'cancelled'];

test.each(codes)('%s has a title and a next step, and shows no code', (code) => {
  const { title, text } = refusalText({ code, reason: null, title: null, waitMs: 0 }, false, false);
  expect(title).not.toBe('');
  expect(text.length).toBeGreaterThan(0);
  expect([title, ...text].join(' ')).not.toMatch(/_|!|oops/i);
});

test('every end reason has its own text', () => {
  const said = reasons.map((reason) => refusalText({ code: 'room_ended', reason, title: null, waitMs: 0 }, true, false).text[0]);
  expect(new Set(said).size).toBe(reasons.length);
});

test('the title depends on whether the visitor was in the room', () => {
  const refusal = { code: 'room_ended', reason: null, title: null, waitMs: 0 } as const;
  expect(refusalText(refusal, true, false).title).toBe('The room has ended');
  expect(refusalText(refusal, false, false).title).toBe('This room has ended');
  expect(refusalText(refusal, true, true).title).toBe('You ended the meeting');
});

test('an unknown code of a newer server has a text', () => {
  expect(refusalText({ code: 'brand_new' as RefusalCode, reason: null, title: null, waitMs: 0 }, false, false).nextStep).toBe('reload');
});
