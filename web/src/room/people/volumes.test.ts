import { expect, test } from 'vitest';
import { parseVolumes } from './volumes';

test('invalid stored volumes are ignored', () => {
  expect([...parseVolumes('[["a",0.2],["b",7],["c"],[3,0.1],"d"]')]).toEqual([['a', 0.2]]);
  for (const nonsense of [null, '', '{', '{}', '7']) expect(parseVolumes(nonsense).size).toBe(0);
});
