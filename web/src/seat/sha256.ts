/* SHA-256 in JavaScript, because pages without TLS have no crypto.subtle and must derive the same keys. */
function primeRootFractions(power: number): Uint32Array {
  const out = new Uint32Array(64);
  for (let candidate = 2, found = 0; found < 64; candidate++) {
    let prime = true;
    for (let d = 2; d * d <= candidate; d++) if (candidate % d === 0) prime = false;
    if (prime) out[found++] = (candidate ** power % 1) * 2 ** 32;
  }
  return out;
}

const roundConstants = primeRootFractions(1 / 3);
const initialHash = primeRootFractions(1 / 2).slice(0, 8);
const wordAt = (words: Uint32Array, i: number): number => words[i] ?? 0;
const rotateRight = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

/** Returns the digest of the text's UTF-8 bytes in hexadecimal. */
export function sha256(text: string): string {
  const input = new TextEncoder().encode(text);
  const padded = new Uint8Array((((input.length + 8) >> 6) + 1) << 6);
  padded.set(input);
  padded[input.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, input.length << 3);
  const hash = initialHash.slice();
  const w = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        w[i] = view.getUint32(block + i * 4);
        continue;
      }
      const a = wordAt(w, i - 15);
      const b = wordAt(w, i - 2);
      const s0 = rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >>> 3);
      const s1 = rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >>> 10);
      w[i] = wordAt(w, i - 16) + s0 + wordAt(w, i - 7) + s1;
    }
    const v = hash.slice();
    for (let i = 0; i < 64; i++) {
      const [a, b, c, d, e, f, g, h] = Array.from(v) as [number, number, number, number, number, number, number, number];
      const s1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
      const t1 = h + s1 + ((e & f) ^ (~e & g)) + wordAt(roundConstants, i) + wordAt(w, i);
      const s0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
      const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      v.set([t1 + t2, a, b, c, d + t1, e, f, g]);
    }
    for (let i = 0; i < 8; i++) hash[i] = wordAt(hash, i) + wordAt(v, i);
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, '0')).join('');
}
