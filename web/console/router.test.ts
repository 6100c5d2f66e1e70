import { describe, expect, test } from 'vitest';
import { href, readRoute } from './router';

const read = (address: string) => {
  const { pathname, search } = new URL(address, 'https://host');
  return readRoute({ pathname, search });
};

describe('the address', () => {
  test.each([
    ['/console', { page: 'overview', id: null, query: {} }],
    ['/console/', { page: 'overview', id: null, query: {} }],
    ['/console/rooms?q=a%20b&project=p', { page: 'rooms', id: null, query: { q: 'a b', project: 'p' } }],
    ['/console/rooms/a%2Fb/', { page: 'rooms', id: 'a/b', query: {} }],
    ['/console/nothing', null],
    ['/console/rooms/1/2', null],
    ['/console/rooms/%E0', null],
  ])('%s is read', (address, route) => expect(read(address)).toEqual(route));

  test('is written as it is read', () => {
    expect(href('overview')).toBe('/console');
    expect(href('rooms', 'a/b', { q: 'x y', cursor: undefined, project: '' })).toBe('/console/rooms/a%2Fb?q=x+y');
  });
});
