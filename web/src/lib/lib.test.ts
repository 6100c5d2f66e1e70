import { describe, expect, test } from 'vitest';
import { backoff } from './backoff';
import { initials } from './initials';
import { sha256 } from './sha256';
import { span } from './span';

describe('waiting longer and longer', () => {
  test('begins at once, then at half a second, and ends at five', () => {
    const most = [0, 1, 2, 3, 4, 5, 6, 7, 50].map((attempt) => backoff(attempt, () => 1));
    expect(most).toEqual([0, 500, 800, 1280, 2048, 3277, 5000, 5000, 5000]);
  });

  test('spreads pages over the second half of the time', () => {
    for (let attempt = 1; attempt < 10; attempt++) {
      expect(Math.abs(backoff(attempt, () => 0) - backoff(attempt, () => 1) / 2)).toBeLessThanOrEqual(1);
    }
  });
});

describe('SHA-256', () => {
  // FIPS 180-4 examples, and the lengths around the end of a block.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of %j', (text, digest) => expect(sha256(text)).toBe(digest));

  test.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])('agrees with the browser on %i bytes', async (length) => {
    const text = 'é'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2);
    const theirs = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    expect(sha256(text)).toBe(Array.from(new Uint8Array(theirs), (b) => b.toString(16).padStart(2, '0')).join(''));
  });
});

describe('how long it was', () => {
  test.each([
    [59_000, 'less than a minute'],
    [60_000, '1 minute'],
    [24 * 60_000 + 59_000, '24 minutes'],
    [60 * 60_000, '1 hour'],
    [84 * 60_000, '1 hour 24 minutes'],
    [121 * 60_000, '2 hours 1 minute'],
  ])('%i ms', (ms, words) => expect(span(ms)).toBe(words));
});

describe('initials', () => {
  test.each([
    ['Amina Diallo', 'AD'],
    ['ben', 'B'],
    ['  Ana  María  de Souza ', 'AS'],
    ['😀 x', '😀X'],
    ['', ''],
  ])('of %j', (name, letters) => expect(initials(name)).toBe(letters));
});
