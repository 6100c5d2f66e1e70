/** The topic of what people write. The server's own is another. */
export const chatTopic = 'chat';

/** The longest message, in characters. */
export const maxTextLength = 2_000;
const maxBytes = 12_000;

/** What travels. Who wrote it is not in it: the server says that. */
export interface Packet {
  id: string;
  text: string;
  /** Which message it answers, by the key under which pages keep it. */
  replyTo: string | null;
}

/** How many characters somebody would count. */
export const lengthOf = (text: string): number => Array.from(text).length;

/** The name of a message on every page: the sender's id for it means nothing without the sender. */
export const messageKey = (identity: string, id: string): string => `${identity}/${id}`;

export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A text as it is sent: without blank ends, and with an empty line at most between two. */
export const normalizeText = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/\n{3,}/g, '\n\n').trim();

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encode({ id, text, replyTo }: Packet): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ id, text, ...(replyTo !== null && { reply_to: replyTo }) }));
}

/** Reads what somebody sent; null for what no page of ours sends. */
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
