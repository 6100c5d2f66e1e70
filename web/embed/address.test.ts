import { expect, test } from 'vitest';
import { frameAddress, originOf, type Place } from './address';

const nothing: Place = { link: null, room: null, token: null, server: null, name: null, lang: null };
const script = 'https://meet.example.org';

test.each<[string, Partial<Place>, string | null]>([
  ['a link', { link: 'https://a.example/r/1#t=T-_.1' }, 'https://a.example/r/1#t=T-_.1'],
  ['a link that a backend has signed', { link: 'https://a.example/r/1#j=a.b.c' }, 'https://a.example/r/1#j=a.b.c'],
  ['a link with its query', { link: 'https://a.example:8443/r/1?lang=de' }, 'https://a.example:8443/r/1?lang=de'],
  ['a link, which has precedence', { link: 'https://a.example/r/1', room: '2', token: 'T' }, 'https://a.example/r/1'],
  ['a room of the server of the script', { room: '1', token: 'T' }, 'https://meet.example.org/r/1#t=T'],
  ['a room for guests', { room: '1' }, 'https://meet.example.org/r/1'],
  ['a room of another server', { room: '1', token: 'T', server: 'http://localhost:8080/' }, 'http://localhost:8080/r/1#t=T'],
  ['a server with a path', { room: '1', server: 'https://a.example/docs?x=1#y' }, 'https://a.example/r/1'],
  ['a room with characters of a path', { room: '../1?t=#' }, 'https://meet.example.org/r/..%2F1%3Ft%3D%23'],
  [
    'a name and a language',
    { room: '1', token: 'T', name: 'Ana & Bo', lang: 'de' },
    'https://meet.example.org/r/1#t=T&name=Ana+%26+Bo&lang=de',
  ],
  ['a name instead of that in the link', { link: 'https://a.example/r/1#t=T&name=Bo', name: 'Ana' }, 'https://a.example/r/1#t=T&name=Ana'],
  ['no room', { token: 'T', name: 'Ana' }, null],
  ['an empty room', { room: '', link: '' }, null],
])('the address of %s', (_, place, address) => {
  expect(frameAddress({ ...nothing, ...place }, script)?.href ?? null).toBe(address);
});

test.each<[string, Partial<Place>, string | null]>([
  ['link', { link: '/r/1' }, script],
  ['link', { link: 'javascript:alert(1)' }, script],
  ['server', { room: '1', server: 'meet.example.org' }, script],
  ['server', { room: '1' }, null],
])('a wrong attribute is named: %s in %j', (attribute, place, scriptOrigin) => {
  expect(() => frameAddress({ ...nothing, ...place }, scriptOrigin)).toThrow(`the attribute ${attribute} must be`);
});

test('the origin of a script is known if it has an address', () => {
  expect(originOf(null)).toBeNull();
  expect(originOf({ src: '' } as HTMLScriptElement)).toBeNull();
  expect(originOf({ src: 'https://meet.example.org/embed.js?v=1' } as HTMLScriptElement)).toBe('https://meet.example.org');
});
