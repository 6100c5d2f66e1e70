/** Milliseconds without a packet after which a connection on which media flowed counts as silent. */
export const silentMs = 2_100;
/** The same without media, because a server then sends a packet every few seconds only. */
const silentMsWhenIdle = 8_000;
/** Packets a second: fewer are not media. */
const mediaRate = 10;

/** Milliseconds between two reads of a page that is not hidden. */
const maxReadMs = 1_000;

/** The packets that were received until a point of time. */
export interface PacketWatch {
  received: number;
  /** When the last packet came, estimated from the rate. */
  at: number;
  /** When the count was read last. */
  readAt: number;
  /** Packets a second, a moving average of the reads in which packets came. */
  rate: number;
}

/** Updates the watch with the number of packets that all connections have received. */
export function watchPackets(before: PacketWatch | null, received: number, now: number): PacketWatch {
  if (!before) return { received, at: now, readAt: now, rate: 0 };
  // Another connection counts from 0, and is as silent as the one before until packets come.
  if (received < before.received)
    return received === 0 ? { ...before, received, readAt: now } : { received, at: now, readAt: now, rate: 0 };
  if (received === before.received) return { ...before, readAt: now };
  const count = received - before.received;
  const rate = (count * 1_000) / Math.max(1, now - before.readAt);
  // Much fewer packets than before mean that they stopped between the two reads, unless the
  // page was hidden in between.
  const at =
    rate < before.rate / 2 && now - before.readAt <= maxReadMs ? Math.min(now, before.readAt + (count * 1_000) / before.rate) : now;
  return { received, at, readAt: now, rate: before.rate === 0 ? rate : (before.rate + rate) / 2 };
}

/** Returns the milliseconds of silence that are left until the connection counts as silent. */
export function untilSilent({ at, readAt, rate }: PacketWatch, mediaExpected: boolean): number {
  return at + (mediaExpected && rate >= mediaRate ? silentMs : silentMsWhenIdle) - readAt;
}

interface Pair extends RTCIceCandidatePairStats {
  packetsReceived?: number;
}

/**
 * Returns the number of packets that a connection has received, including those that only
 * keep it alive. It returns null if the browser does not count them, as some do not: silence
 * would then mean nothing.
 */
export function packetsReceived(report: Pick<RTCStatsReport, 'forEach'>): number | null {
  let received: number | null = null;
  report.forEach((entry: RTCStats) => {
    if (entry.type !== 'candidate-pair') return;
    const { packetsReceived, requestsReceived, responsesReceived } = entry as Pair;
    if (packetsReceived === undefined || responsesReceived === undefined) return;
    received = (received ?? 0) + packetsReceived + (requestsReceived ?? 0) + responsesReceived;
  });
  return received;
}
