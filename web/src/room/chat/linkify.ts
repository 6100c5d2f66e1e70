/** A part of a text: words, or an address to open. */
export interface Piece {
  text: string;
  href?: string;
  /** The host as browsers call it, where the address was written with letters that may look like others. */
  host?: string;
}

// An address ends where a space does, at a quote or bracket that it cannot
// hold, and at the marks that turn the direction of writing: with those it
// would read as another one.
const urlPattern = /https?:\/\/[^\s<>"'`{}|\\^\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gi;
const closingBrackets: Record<string, string> = { ')': '(', ']': '[' };

/**
 * Takes a text apart into words and http or https addresses. Put together the
 * pieces are the text, to the character: nobody reads another address than the
 * one that was written.
 */
export function linkify(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const pushText = (until: number): void => {
    if (until > end) pieces.push({ text: text.slice(end, until) });
    end = until;
  };
  for (const match of text.matchAll(urlPattern)) {
    // "xhttp://" is no address, nor is one inside a longer one.
    if (match.index < end || /[\p{L}\p{N}_]/u.test(text.charAt(match.index - 1))) continue;
    const written = trimTrailing(match[0]);
    const href = safeHref(written);
    if (href === null) continue;
    pushText(match.index);
    const host = differingHost(written, href);
    pieces.push(host === undefined ? { text: written, href } : { text: written, href, host });
    end = match.index + written.length;
  }
  pushText(text.length);
  return pieces;
}

/** The end of a sentence is not part of its last address; neither is a bracket opened before it. */
function trimTrailing(address: string): string {
  for (;;) {
    const last = address.charAt(address.length - 1);
    const opening = closingBrackets[last];
    const unopened = opening !== undefined && address.split(last).length > address.split(opening).length;
    if (!unopened && !/[.,;:!?*_~…]/.test(last)) return address;
    address = address.slice(0, -1);
  }
}

/** The host of an address in ASCII, if that is not what was written. */
function differingHost(written: string, href: string): string | undefined {
  const { host } = new URL(href);
  const read = /^https?:\/\/([^/?#]*)/i.exec(written)?.[1] ?? '';
  const port = /^https:/i.test(written) ? ':443' : ':80';
  const plain = read.toLowerCase();
  return plain === host || plain === host + port ? undefined : host;
}

function safeHref(written: string): string | null {
  try {
    const url = new URL(written);
    // What stands before an @ is not the host, although it reads like one.
    const plain = url.username === '' && url.password === '' && !/^https?:\/\/[^/?#]*@/i.test(written);
    return plain && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url.href : null;
  } catch {
    return null;
  }
}
