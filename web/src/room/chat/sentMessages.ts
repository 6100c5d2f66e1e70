import type { Packet } from './packet';

/** The visitor's own message and when it was sent. */
export interface SentMessage {
  packet: Packet;
  /** By performance.now(). */
  at: number;
}

/** Fewer than a receiver accepts at once (FloodLimiter). */
const maxRepeated = 10;
/** Messages of so many milliseconds before the last received packet are sent again, because they may be lost, too. */
const marginMs = 1_000;
/** If the browser does not count packets, messages of so many milliseconds are. A dead connection is given up by then. */
const uncountedMs = 30_000;

/** Returns the messages to remember after another one was sent. */
export const remember = (sent: readonly SentMessage[], message: SentMessage): SentMessage[] => [...sent, message].slice(-maxRepeated);

/**
 * Returns the messages that a lost connection may not have delivered. A message counts as sent when the browser has
 * it, so that those after the last received packet are not known to have arrived. `packetAt` is when that packet came;
 * null if it is not known.
 */
export function possiblyLost(sent: readonly SentMessage[], packetAt: number | null, now: number): Packet[] {
  const from = packetAt === null ? now - uncountedMs : packetAt - marginMs;
  return sent.filter(({ at }) => at >= from).map(({ packet }) => packet);
}
