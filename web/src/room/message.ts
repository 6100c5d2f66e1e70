import { isReaction, type Reaction } from './together/reactions';

export type Message =
  | { kind: 'move' }
  | { kind: 'broadcast'; text: string; from: string }
  | { kind: 'reaction'; identity: string; reaction: Reaction };

const decoder = new TextDecoder();

/**
 * What the server says to this page; null when it is nothing this page knows,
 * or not from the server: whatever a participant sends bears their identity.
 */
export function readMessage(topic: string | undefined, payload: Uint8Array, identity: string | undefined): Message | null {
  if (topic !== 'parley' || identity) return null;
  const said = parse(decoder.decode(payload));
  if (said['kind'] === 'move') return { kind: 'move' };
  const { kind, text, from, reaction } = said;
  if (kind === 'reaction') {
    const who = said['identity'];
    return typeof who === 'string' && isReaction(reaction) ? { kind, identity: who, reaction } : null;
  }
  if (kind !== 'broadcast' || typeof text !== 'string') return null;
  return { kind, text, from: typeof from === 'string' ? from : '' };
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
