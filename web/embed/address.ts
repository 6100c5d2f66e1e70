/** The attributes that say which room an element shows. Null where the element has none. */
export interface Place {
  /** The whole link of a creation or an invitation. */
  link: string | null;
  room: string | null;
  /** The part of a link behind `#t=` or `#j=`. */
  token: string | null;
  /** The origin of the server; the one of the script by default. */
  server: string | null;
  name: string | null;
  lang: string | null;
}

/**
 * Returns the address of the room for the frame; null if the element names no room. It throws an
 * error that names the attribute that is wrong. Token and name are in the fragment, so that no
 * server sees them.
 */
export function frameAddress({ link, room, token, server, name, lang }: Place, scriptOrigin: string | null): URL | null {
  if (!link && !room) return null;
  const address = link ? parse('link', link) : parse('server', server || scriptOrigin);
  if (!link && room) {
    address.pathname = `/r/${encodeURIComponent(room)}`;
    address.search = address.hash = '';
  }
  const fragment = new URLSearchParams(address.hash.slice(1));
  const values = { t: link ? null : token, name, lang };
  for (const [key, value] of Object.entries(values)) if (value) fragment.set(key, value);
  address.hash = fragment.toString();
  return address;
}

function parse(attribute: string, value: string | null): URL {
  try {
    const address = new URL(value ?? '');
    if (/^https?:$/.test(address.protocol)) return address;
  } catch {
    // The error below says what is wrong.
  }
  throw new Error(`parley-room: the attribute ${attribute} must be a whole address, such as https://meet.example.org`);
}

/** Returns the origin of the script that runs now; null if the browser does not know it. */
export function originOf(script: HTMLOrSVGScriptElement | null): string | null {
  return script && 'src' in script && script.src ? new URL(script.src).origin : null;
}
