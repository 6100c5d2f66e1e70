import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Returns the colors that a style sheet gives to its custom properties, light and dark. */
function colorsOf(path: string): { light: Map<string, string>; dark: Map<string, string> } {
  const css = readFileSync(resolve(import.meta.dirname, path), 'utf8');
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
  const read = (text: string) => {
    const first = text.slice(0, text.search(/^\}$/m));
    return new Map([...first.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', color = '']) => [name, color]));
  };
  return { light: read(light), dark: read(dark) };
}

/** Returns the relative luminance of WCAG 2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe.each(['light', 'dark'] as const)('the colors of code in the %s theme', (theme) => {
  const background = colorsOf('../src/styles/tokens.css')[theme].get('raised') ?? '';
  const colors = [...colorsOf('../docs/code.css')[theme]];

  test('are all there', () => {
    expect(background).toMatch(/^#/);
    expect(colors.map(([name]) => name)).toEqual([...colorsOf('../docs/code.css').light.keys()]);
    expect(colors.length).toBeGreaterThan(5);
  });

  test.each(colors)('can be read: --%s', (_, color) => {
    const [low = 0, high = 0] = [luminance(color), luminance(background)].sort((a, b) => a - b);
    expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5);
  });
});
