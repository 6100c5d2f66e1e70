import { expect, test } from 'vitest';
import { readHeaders } from './headers';

test('headers are read as they are pasted', () => {
  expect(readHeaders(`hash-signature: abc=\r\n\n  X-Api-Key:pk_1 \nnonsense\n-H 'Timestamp: 17' \\\n-H "Empty:"`)).toEqual([
    { name: 'hash-signature', value: 'abc=' },
    { name: 'X-Api-Key', value: 'pk_1' },
    { name: 'Timestamp', value: '17' },
    { name: 'Empty', value: '' },
  ]);
});
