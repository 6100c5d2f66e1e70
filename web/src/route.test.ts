import { expect, test } from 'vitest';
import { guestLink, readCheck, readPreset, readRoute } from './route';

test.each([
  ['/r/01a1-x', '', { roomId: '01a1-x', link: null }],
  ['/r/01a1-x/', '#t=abc_-1', { roomId: '01a1-x', link: 'abc_-1' }],
  ['/r/01a1-x', '#j=a.b.c', { roomId: '01a1-x', link: 'a.b.c' }],
  ['/r/01a1-x', '#t=', { roomId: '01a1-x', link: null }],
  ['/r/01a1-x', '#other', { roomId: '01a1-x', link: null }],
  ['/r/', '', null],
  ['/r/a/b', '', null],
  ['/r/%E0%A4%A', '', null],
  ['/', '', null],
])('%s%s', (pathname, hash, route) => expect(readRoute({ pathname, hash })).toEqual(route));

test.each([
  ['/check', '#abc_-1', 'abc_-1'],
  ['/check/', '', ''],
  ['/checks', '#abc', null],
  ['/r/check', '#abc', null],
])('%s%s is a check', (pathname, hash, code) => expect(readCheck({ pathname, hash })).toBe(code));

test.each([
  ['', '', { lang: null, name: null }],
  ['?lang=de&name=Ana%20M%C3%BCller', '#t=abc', { lang: 'de', name: 'Ana Müller' }],
  ['?lang=de&name=Ana', '#t=abc&name=Ben+B', { lang: 'de', name: 'Ben B' }],
  ['?lang=&name=%20', '', { lang: null, name: null }],
])('%s%s fills in', (search, hash, preset) => expect(readPreset({ search, hash })).toEqual(preset));

test('a name that is too long is shortened', () => {
  expect(readPreset({ search: `?name=${'a'.repeat(300)}`, hash: '' }).name).toHaveLength(255);
});

test('the guest link has no token', () => {
  expect(guestLink('https://meet.example', '01a1-x')).toBe('https://meet.example/r/01a1-x');
});
