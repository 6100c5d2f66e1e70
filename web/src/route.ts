/** Where this page was opened. The link's token stays in the fragment: it is never sent in an address. */
export interface Route {
  roomId: string;
  link: string | null;
}

export function readRoute(location: Pick<Location, 'pathname' | 'hash'>): Route | null {
  const match = /^\/r\/([^/]+)\/?$/.exec(location.pathname);
  if (!match?.[1]) return null;
  let roomId: string;
  try {
    roomId = decodeURIComponent(match[1]);
  } catch {
    return null;
  }
  const link = new URLSearchParams(location.hash.replace(/^#/, '')).get('t');
  return { roomId, link: link || null };
}

/** What a guest is invited with: no token, so it opens the room for anybody who has it. */
export function guestLink(origin: string, roomId: string): string {
  return `${origin}/r/${encodeURIComponent(roomId)}`;
}
