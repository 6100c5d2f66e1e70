import { expect, test } from 'vitest';
import { count, t } from '.';
import { en } from './en';

const sources = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });

test('every message is said somewhere', () => {
  const code = Object.entries(sources)
    .filter(([path]) => !path.includes('/messages/') && !path.endsWith('.test.ts'))
    .map(([, text]) => text)
    .join('\n');
  expect(Object.keys(en).filter((key) => !code.includes(`'${key}'`))).toEqual([]);
});

test('they keep the voice: no exclamation marks, no codes', () => {
  for (const message of Object.values<string | { one: string; other: string }>(en)) {
    const text = typeof message === 'string' ? message : `${message.one} ${message.other}`;
    expect(text).not.toMatch(/!|oops|error|invalid/i);
  }
});

test('slots are filled, numbers as people write them', () => {
  expect(t('say.joined', { name: 'Ana {n}' })).toBe('Ana {n} joined.');
  expect(count('room.people', 1)).toBe('1 person');
  expect(count('room.people', 1200)).toBe('1,200 people');
});
