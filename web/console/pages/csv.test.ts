import { expect, test } from 'vitest';
import { toCSV } from './csv';

test('values are quoted, and no text is a formula', () => {
  expect(
    toCSV([
      ['a', 'b,c', 'say "hi"'],
      ['=1+1', -1.5, ''],
      ['-42', '-Ben', '+1.5'],
      ['x;=1;y', 'x;"=1;y', '＝1'],
    ]),
  ).toBe('a,"b,c","say ""hi"""\r\n\'=1+1,-1.5,\r\n-42,\'-Ben,+1.5\r\nx;\'=1;y,"x;""\'=1;y",\'＝1\r\n');
});
