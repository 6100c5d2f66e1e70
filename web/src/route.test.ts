import { expect, test } from 'vitest';
import { guestLink, readRoute } from './route';

test.each([
  ['/r/01a1-x', '', { roomId: '01a1-x', link: null }],
  ['/r/01a1-x/', '#t=abc_-1', { roomId: '01a1-x', link: 'abc_-1' }],
  ['/r/01a1-x', '#t=', { roomId: '01a1-x', link: null }],
  ['/r/01a1-x', '#other', { roomId: '01a1-x', link: null }],
  ['/r/', '', null],
  ['/r/a/b', '', null],
  ['/r/%E0%A4%A', '', null],
  ['/', '', null],
])('%s%s', (pathname, hash, route) => expect(readRoute({ pathname, hash })).toEqual(route));

test('the guest link carries no token', () => {
  expect(guestLink('https://meet.example', '01a1-x')).toBe('https://meet.example/r/01a1-x');
});
