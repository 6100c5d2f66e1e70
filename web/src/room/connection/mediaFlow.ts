/** Milliseconds without microphone and camera after which a participant's media counts as stopped. */
const stoppedMs = 3_000;

/** Milliseconds between two reads. */
const readMs = 500;

/** The time by which the page must have received something else after the media stopped. */
const proofMs = 1_000;

/** Whether media of a participant arrives. It is unknown until some has arrived, and without any. */
export type MediaFlow = 'flowing' | 'stopped' | 'unknown';

/** A track that should arrive, and when its last sound or picture was played, by any clock. */
export interface Arrival {
  sid: string;
  playedAt: number;
}

/** The arrivals of a participant until a point of time. */
export interface FlowWatch {
  arrivals: readonly Arrival[];
  /** When one of them has changed last. */
  at: number;
  readAt: number;
  changed: boolean;
}

/** Updates the watch. It begins again when other tracks should arrive. */
export function watchFlow(before: FlowWatch | null, arrivals: readonly Arrival[], now: number): FlowWatch {
  const same = before?.arrivals.length === arrivals.length && arrivals.every(({ sid }, i) => before.arrivals[i]?.sid === sid);
  if (!same) return { arrivals, at: now, readAt: now, changed: false };
  const changed = arrivals.some(({ playedAt }, i) => playedAt > (before.arrivals[i]?.playedAt ?? 0));
  return changed ? { arrivals, at: now, readAt: now, changed } : { ...before, readAt: now };
}

/**
 * Returns the milliseconds until the next read. The read at which the media counts as stopped is not
 * put off to the next full interval, so that a fault of five seconds is always noticed.
 */
export function untilNextRead(watch: FlowWatch | null): number {
  const left = watch ? watch.at + stoppedMs - watch.readAt : 0;
  return left > 0 ? Math.min(left, readMs) : readMs;
}

/**
 * Returns whether the media flows. `packetAt` is when this page received its last packet from
 * the server: if nothing has arrived since the media stopped, the page itself may be cut off.
 */
export function flowOf({ at, readAt, changed }: FlowWatch, packetAt: number | null): MediaFlow {
  if (!changed) return 'unknown';
  if (readAt - at < stoppedMs) return 'flowing';
  return packetAt !== null && packetAt - at >= proofMs ? 'stopped' : 'unknown';
}
