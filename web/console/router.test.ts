import { afterEach, describe, expect, test, vi } from 'vitest';
import { guardLeaving, href, navigate, readRoute, skipPage } from './router';

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

describe('a page that is guarded', () => {
  afterEach(() => void vi.unstubAllGlobals());

  test('asks when a person leaves it, but not when a list skips an empty page', () => {
    const replaceState = vi.fn();
    vi.stubGlobal('location', new URL('https://host/console/team'));
    vi.stubGlobal('history', { state: null, replaceState });
    const ask = vi.fn(() => false);
    const release = guardLeaving(ask);
    skipPage('2');
    expect(ask).not.toHaveBeenCalled();
    navigate('/console/rooms', { replace: true });
    expect(ask).toHaveBeenCalledOnce();
    expect(replaceState).not.toHaveBeenCalled();
    release();
    skipPage('2');
    expect(replaceState).toHaveBeenCalledWith({ cursors: [] }, '', '/console/team?cursor=2');
  });
});
