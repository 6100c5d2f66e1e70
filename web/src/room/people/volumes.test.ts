import { expect, test } from 'vitest';
import { parseVolumes } from './volumes';

test('a memory of volumes that makes no sense is none', () => {
  expect([...parseVolumes('[["a",0.2],["b",7],["c"],[3,0.1],"d"]')]).toEqual([['a', 0.2]]);
  for (const nonsense of [null, '', '{', '{}', '7']) expect(parseVolumes(nonsense).size).toBe(0);
});
