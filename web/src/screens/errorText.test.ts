import { expect, test } from 'vitest';
import type { CallError, EndReason, ErrorCode } from '../api/client';
import { errorText } from './errorText';

const codes: ErrorCode[] = [
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

const error = (code: ErrorCode, part: Partial<CallError> = {}): CallError => ({
  code,
  reason: null,
  title: null,
  maxParticipants: null,
  waitMs: 0,
  ...part,
});

test.each(codes)('%s has a title and a next step, and shows no code', (code) => {
  const { title, text } = errorText(error(code), false, false);
  expect(title).not.toBe('');
  expect(text.length).toBeGreaterThan(0);
  expect([title, ...text].join(' ')).not.toMatch(/_|!|oops/i);
});

test('every end reason has its own text', () => {
  const said = reasons.map((reason) => errorText(error('room_ended', { reason }), true, false).text[0]);
  expect(new Set(said).size).toBe(reasons.length);
});

test('the title depends on whether the visitor was in the room', () => {
  const ended = error('room_ended');
  expect(errorText(ended, true, false).title).toBe('The room has ended');
  expect(errorText(ended, false, false).title).toBe('This room has ended');
  expect(errorText(ended, true, true).title).toBe('You ended the room');
});

test('an unknown code of a newer server has a text', () => {
  expect(errorText(error('brand_new' as ErrorCode), false, false).nextStep).toBe('reload');
});

test.each([
  ['of four seats', 4, 'All seats are taken (4 of 4).'],
  ['of one seat', 1, 'The only seat is taken (1 of 1).'],
])('a full room %s has the number of seats', (_, maxParticipants, sentence) => {
  const { text } = errorText(error('room_full', { maxParticipants }), false, false);
  expect(text).toEqual([sentence, 'Keep this page open, and we’ll tell you when a seat is free.']);
});

test('a full room whose number of seats is unknown has no number', () => {
  expect(errorText(error('room_full'), false, false).text).toEqual(['Keep this page open, and we’ll tell you when a seat is free.']);
});
