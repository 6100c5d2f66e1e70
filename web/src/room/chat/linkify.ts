/** A part of a text: plain text or a link. */
export interface Piece {
  text: string;
  href?: string;
  /** The ASCII host, when the address was written with other characters that may look alike. */
  host?: string;
}

// An address ends at a space, a quote, a bracket that it cannot contain, or a
// bidirectional control character, because the latter would make it look like another
// address.
const urlPattern = /https?:\/\/[^\s<>"'`{}|\\^\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gi;
const closingBrackets: Record<string, string> = { ')': '(', ']': '[' };

/**
 * Splits a text into plain text and http or https links. The joined pieces are exactly the
 * text, so that the visible address is the one that was written.
 */
export function linkify(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const pushText = (until: number): void => {
    if (until > end) pieces.push({ text: text.slice(end, until) });
    end = until;
  };
  for (const match of text.matchAll(urlPattern)) {
    // "xhttp://" is not an address, and neither is an address inside a longer one.
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

/** Removes punctuation at the end of an address, and closing brackets that were opened before it. */
function trimTrailing(address: string): string {
  for (;;) {
    const last = address.charAt(address.length - 1);
    const opening = closingBrackets[last];
    const unopened = opening !== undefined && address.split(last).length > address.split(opening).length;
    if (!unopened && !/[.,;:!?*_~…]/.test(last)) return address;
    address = address.slice(0, -1);
  }
}

/** Returns the host in ASCII if it differs from the written one. */
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
    // The part before an @ is not the host, although it looks like one.
    const plain = url.username === '' && url.password === '' && !/^https?:\/\/[^/?#]*@/i.test(written);
    return plain && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url.href : null;
  } catch {
    return null;
  }
}
