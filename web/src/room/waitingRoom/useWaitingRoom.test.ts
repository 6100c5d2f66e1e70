import { expect, test } from 'vitest';
import { stillListed } from './useWaitingRoom';

const list = (...identities: string[]): { identity: string; name: string }[] =>
  identities.map((identity) => ({ identity, name: identity.toUpperCase() }));

test('a person whom a host has admitted or denied can ask again when the list had them no longer', () => {
  const handled = new Set(['ben', 'chen']);
  // The list is older than the action.
  expect(stillListed(handled, list('ben', 'chen', 'dora'))).toBe(handled);
  expect(stillListed(handled, list('chen', 'dora'))).toEqual(new Set(['chen']));
  expect(stillListed(handled, [])).toEqual(new Set());
  expect(stillListed(new Set(), list('ben'))).toEqual(new Set());
});
