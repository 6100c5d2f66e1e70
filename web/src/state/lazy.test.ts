import { describe, expect, test } from 'vitest';
import { Lazy } from './lazy';

describe('a lazy part of the page', () => {
  test('is loaded once and kept', async () => {
    let loads = 0;
    const part = new Lazy(() => Promise.resolve(++loads));
    expect(part.loaded.get()).toBeNull();
    expect(await Promise.all([part.get(), part.get()])).toEqual([1, 1]);
    await part.prefetch();
    expect([part.loaded.get(), loads]).toEqual([1, 1]);
  });

  test('can be loaded again after a failure', async () => {
    let loads = 0;
    const part = new Lazy(() => (++loads < 3 ? Promise.reject(new Error('away')) : Promise.resolve('part')));
    await part.prefetch();
    await expect(part.get()).rejects.toThrow('away');
    expect(await part.get()).toBe('part');
    expect(part.loaded.get()).toBe('part');
  });
});
