import { expect, test } from 'vitest';
import { sessionState } from './sessionState';

const past = '2020-01-01T00:00:00Z';
const future = '2999-01-01T00:00:00Z';

test.each([
  [{ state: 'live' }, 'Signed in', true],
  [{ state: 'not_opened', open_by: future }, 'Link not opened', true],
  [{ state: 'idle' }, 'Idle too long', true],
  [{ state: 'expired' }, 'Expired', false],
  [{ state: 'expired', open_by: past }, 'Link expired', false],
  [{ state: 'ended' }, 'Ended', false],
])('the state of %o is shown', (session, text, canEnd) => {
  expect(sessionState({ expires_at: future, ...session })).toMatchObject({ text, canEnd });
});

test.each([
  [{ expires_at: future }, 'Signed in', true],
  [{ expires_at: future, open_by: future }, 'Link not opened', true],
  [{ expires_at: past }, 'Expired', false],
  [{ expires_at: future, open_by: past }, 'Link expired', false],
  [{ expires_at: future, ended_at: past }, 'Ended', false],
])('without a state from a node of an earlier release, %o is shown by its times', (session, text, canEnd) => {
  expect(sessionState(session)).toMatchObject({ text, canEnd });
});

test('a state of a later release is shown as its word', () => {
  expect(sessionState({ expires_at: future, state: 'locked' })).toEqual({ text: 'locked', tone: 'idle', canEnd: true });
});
