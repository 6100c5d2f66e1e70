import { expect, test } from 'vitest';
import { faultOf } from './faults';

const error = (name: string, message = ''): Error => Object.assign(new Error(message), { name });

test.each([
  ['NotAllowedError', '', 'denied', 'blocked'],
  ['NotAllowedError', '', 'prompt', 'dismissed'],
  ['NotAllowedError', '', null, 'blocked'],
  ['NotAllowedError', 'Permission denied by system', 'granted', 'system'],
  ['NotFoundError', '', 'granted', 'missing'],
  ['OverconstrainedError', '', 'granted', 'missing'],
  ['NotReadableError', '', 'granted', 'busy'],
  ['TypeError', '', 'granted', 'unknown'],
] as const)('%s %s (%s) means %s', (name, message, permission, fault) => {
  expect(faultOf(error(name, message), permission)).toBe(fault);
});

test('a value that is not an error is an unknown fault', () => {
  expect(faultOf('x', null)).toBe('unknown');
});
