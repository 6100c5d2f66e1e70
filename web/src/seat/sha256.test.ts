import { describe, expect, test } from 'vitest';
import { sha256 } from './sha256';

describe('SHA-256', () => {
  // FIPS 180-4 examples, and the lengths around the end of a block.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1'],
  ])('of %j', (text, digest) => expect(sha256(text)).toBe(digest));

  test.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])('agrees with the browser on %i bytes', async (length) => {
    const text = 'é'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2);
    const theirs = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    expect(sha256(text)).toBe(Array.from(new Uint8Array(theirs), (b) => b.toString(16).padStart(2, '0')).join(''));
  });
});
