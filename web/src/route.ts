/**
 * The room and the link of the address. The link's token is in the fragment, so that it is
 * never sent to the server as part of an address.
 */
export interface Route {
  roomId: string;
  link: string | null;
}

type Address = Pick<Location, 'pathname' | 'search' | 'hash'>;

const fragmentParams = ({ hash }: Pick<Address, 'hash'>): URLSearchParams => new URLSearchParams(hash.replace(/^#/, ''));

export function readRoute(location: Pick<Address, 'pathname' | 'hash'>): Route | null {
  const match = /^\/r\/([^/]+)\/?$/.exec(location.pathname);
  if (!match?.[1]) return null;
  let roomId: string;
  try {
    roomId = decodeURIComponent(match[1]);
  } catch {
    return null;
  }
  const fragment = fragmentParams(location);
  // t is a link that the server has made, and j one that a backend has signed itself.
  return { roomId, link: fragment.get('t') || fragment.get('j') || null };
}

/** Returns the code in the link of a connection check, which is empty if it is missing; null for another address. */
export function readCheck({ pathname, hash }: Pick<Address, 'pathname' | 'hash'>): string | null {
  return /^\/check\/?$/.test(pathname) ? hash.replace(/^#/, '') : null;
}

/** Values that the creator of the address has prefilled. */
export interface Preset {
  lang: string | null;
  name: string | null;
}

/** Reads from the query, or from the fragment, which no server sees. */
export function readPreset(location: Pick<Address, 'search' | 'hash'>): Preset {
  const query = new URLSearchParams(location.search);
  const fragment = fragmentParams(location);
  const read = (key: string): string | null => (fragment.get(key) ?? query.get(key))?.trim() || null;
  return {
    lang: read('lang'),
    name:
      Array.from(read('name') ?? '')
        .slice(0, 255)
        .join('') || null,
  };
}

/** Returns the address for guests. It has no token, so that anybody who has it can join. */
export function guestLink(origin: string, roomId: string): string {
  return `${origin}/r/${encodeURIComponent(roomId)}`;
}
