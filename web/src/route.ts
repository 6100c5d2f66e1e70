/** Where this page was opened. The link's token stays in the fragment: it is never sent in an address. */
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
  return { roomId, link: fragmentParams(location).get('t') || null };
}

/** What whoever made the address wants to be filled in. */
export interface Preset {
  lang: string | null;
  name: string | null;
}

/** From the query, or from the fragment, which no server sees. */
export function readPreset(location: Pick<Address, 'search' | 'hash'>): Preset {
  const query = new URLSearchParams(location.search);
  const fragment = fragmentParams(location);
  const read = (key: string): string | null => (fragment.get(key) ?? query.get(key))?.trim() || null;
  return { lang: read('lang'), name: read('name')?.slice(0, 255) ?? null };
}

/** What a guest is invited with: no token, so it opens the room for anybody who has it. */
export function guestLink(origin: string, roomId: string): string {
  return `${origin}/r/${encodeURIComponent(roomId)}`;
}
