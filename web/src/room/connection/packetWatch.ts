/** Milliseconds without a packet after which a connection on which media flowed counts as lost. */
export const silentMs = 2_500;
/** While nobody sends media, packets arrive only every few seconds. */
const silentMsWhenIdle = 8_000;
/** Packets a second: fewer are not media. */
const mediaRate = 10;

/** The packets received until a point in time. */
export interface PacketWatch {
  received: number;
  /** When the last packet was seen. */
  at: number;
  /** When the count was read last. */
  readAt: number;
  /** Media flowed when the last packets came. */
  flowing: boolean;
}

/** Updates the watch with the number of packets that all connections have received. */
export function watchPackets(before: PacketWatch | null, received: number, now: number): PacketWatch {
  // Another connection counts from 0.
  if (!before || received < before.received) return { received, at: now, readAt: now, flowing: false };
  if (received === before.received) return { ...before, readAt: now };
  const rate = ((received - before.received) * 1_000) / Math.max(1, now - before.at);
  return { received, at: now, readAt: now, flowing: rate >= mediaRate };
}

/** Whether nothing has come for so long that the connection is lost. */
export const isSilent = ({ at, readAt, flowing }: PacketWatch): boolean => readAt - at >= (flowing ? silentMs : silentMsWhenIdle);

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
