import { describe, expect, test } from 'vitest';

const files = Object.keys(import.meta.glob('../dist/app/embed/*', { query: '?url' }));
const [text] = Object.values(import.meta.glob<string>('../dist/app/embed/embed.js', { query: '?raw', import: 'default', eager: true }));
const maxBytes = 4_000;

async function compressedBytes(script: string): Promise<number> {
  const compressed = new Blob([script]).stream().pipeThrough(new CompressionStream('gzip'));
  return (await new Response(compressed).arrayBuffer()).byteLength;
}

describe.skipIf(text === undefined)('the built script of the web component', () => {
  const script = text ?? '';

  test('has no more than 4 kB, compressed', async () => {
    expect(await compressedBytes(script)).toBeLessThanOrEqual(maxBytes);
    expect(files.map((path) => path.replace(/.*\//, ''))).toEqual(['embed.js', 'embed.js.br', 'embed.js.gz']);
  });

  test('is a classic script that is alone and does nothing that a strict policy forbids', () => {
    expect(() => new Function(script)).not.toThrow();
    expect(script).not.toMatch(/\bimport\b|\beval\(|innerHTML|document\.cookie|new Function/);
  });
});
