import { expect, test } from 'vitest';
import { stillListed } from './useWaitingRoom';

const list = (...identities: string[]): { identity: string; name: string }[] =>
  identities.map((identity) => ({ identity, name: identity.toUpperCase() }));

test('a person who was admitted or denied is shown again after the list of the server has dropped them', () => {
  const handled = new Set(['ben', 'chen']);
  // The list is older than the action.
  expect(stillListed(handled, list('ben', 'chen', 'dora'))).toBe(handled);
  expect(stillListed(handled, list('chen', 'dora'))).toEqual(new Set(['chen']));
  expect(stillListed(handled, [])).toEqual(new Set());
  expect(stillListed(new Set(), list('ben'))).toEqual(new Set());
});
