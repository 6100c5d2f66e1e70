import { isReaction, type Reaction } from '../reactions/reactions';

export type ServerMessage =
  | { kind: 'move' }
  | { kind: 'broadcast'; text: string; from: string }
  | { kind: 'reaction'; identity: string; reaction: Reaction }
  /** A host has muted the visitor, or asks them to unmute. */
  | { kind: 'muted' | 'unmute'; from: string };

const decoder = new TextDecoder();

/**
 * Parses a data message of the server; null when it is unknown or not from the server. A
 * message of a participant has an identity.
 */
export function readServerMessage(topic: string | undefined, payload: Uint8Array, identity: string | undefined): ServerMessage | null {
  if (topic !== 'parley' || identity) return null;
  const fields = parse(decoder.decode(payload));
  if (fields.kind === 'move') return { kind: 'move' };
  const { kind, text, from, reaction } = fields;
  if (kind === 'reaction') {
    const reactingIdentity = fields.identity;
    return typeof reactingIdentity === 'string' && isReaction(reaction) ? { kind, identity: reactingIdentity, reaction } : null;
  }
  const hostName = typeof from === 'string' ? from : '';
  if (kind === 'muted' || kind === 'unmute') return { kind, from: hostName };
  return kind === 'broadcast' && typeof text === 'string' ? { kind, text, from: hostName } : null;
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
