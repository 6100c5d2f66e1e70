/** The topic of chat messages. The server uses another one. */
export const chatTopic = 'chat';

/** The maximum length of a message in characters. */
export const maxTextLength = 2_000;
const maxBytes = 12_000;

/** The content of a packet. The sender is not part of it, because the server reports it. */
export interface Packet {
  id: string;
  text: string;
  /** The key of the message that it replies to. */
  replyTo: string | null;
}

/** The length in characters (code points). */
export const lengthOf = (text: string): number => Array.from(text).length;

/** The key of a message on every page. The id alone is only unique per sender. */
export const messageKey = (identity: string, id: string): string => `${identity}/${id}`;

export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Trims a text and reduces several empty lines to one. */
export const normalizeText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encode({ id, text, replyTo }: Packet): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ id, text, ...(replyTo !== null && { reply_to: replyTo }) }));
}

/** Parses a packet; null when it is not a valid message. */
export function decode(payload: Uint8Array): Packet | null {
  if (payload.length > maxBytes) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(payload));
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  const { id, text, reply_to: replyTo } = parsed as Record<string, unknown>;
  if (typeof id !== 'string' || !/^[\w-]{8,64}$/.test(id) || typeof text !== 'string') return null;
  const normalized = normalizeText(text);
  if (normalized === '' || lengthOf(normalized) > maxTextLength) return null;
  return { id, text: normalized, replyTo: typeof replyTo === 'string' && replyTo.length <= 200 ? replyTo : null };
}
