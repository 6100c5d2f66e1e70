import { expect, test } from 'vitest';
import { formatAgo } from './ago';

test.each([
  [-500, 'now'],
  [9_900, 'now'],
  [47_000, '40 seconds ago'],
  [60_000, '1 minute ago'],
  [190_000, '3 minutes ago'],
])('%d ms are said as %j', (ms, said) => expect(formatAgo(ms)).toBe(said));
