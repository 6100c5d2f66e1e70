import type { Room } from 'livekit-client';
import { probeConnections } from '../../api/probeConnections';
import { Store } from '../../state/store';
import { type PacketWatch, packetsReceived, untilSilent, watchPackets } from './packetWatch';

const readMs = 500;
/** Milliseconds from when the connection counts as silent until the page probes the server, and between two probes. */
const probeAfterMs = 3_000;

/**
 * Reads how many packets a media connection receives. LiveKit needs up to fifteen seconds to notice that
 * none come: a connection on which nothing comes although the server responds to requests is given up.
 */
export class PacketMonitor {
  /** No packet has come for a while. It does not change after `stop`. */
  readonly silent = new Store(false);
  readonly #room: Room;
  readonly #onDead: () => void;
  #watch: PacketWatch | null = null;
  #nextProbeAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(room: Room, onDead: () => void) {
    this.#room = room;
    this.#onDead = onDead;
  }

  /** When the last packet was received; null if the browser does not tell. */
  get packetAt(): number | null {
    return this.#watch?.at ?? null;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const left = await this.#read();
    if (this.#stopped) return;
    const probes = left <= -probeAfterMs && this.#nextProbeAt <= performance.now();
    if (probes && (await this.#isDead())) {
      if (!this.#stopped) this.#onDead();
      return;
    }
    if (probes) this.#nextProbeAt = performance.now() + probeAfterMs;
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#run(), left > 0 ? Math.min(left, readMs) : readMs);
  }

  /** Returns the milliseconds until the connection counts as silent, negative if it is already silent. */
  async #read(): Promise<number> {
    // A hidden page receives no video, and its timers are slow. Between two connections there is none to read.
    // A silent connection stays silent meanwhile.
    const received = document.hidden ? null : await receivedBy(this.#room);
    if (received !== null) this.#watch = watchPackets(this.#watch, received, performance.now());
    const left = this.#watch === null ? Infinity : untilSilent(this.#watch, isMediaExpected(this.#room));
    if (!this.#stopped) this.silent.set(left <= 0);
    return received === null ? Math.max(0, left) : left;
  }

  /** Whether the server responds and still sends no packet: after a cut, both come back at the same time. */
  async #isDead(): Promise<boolean> {
    if (!(await probeConnections())) return false;
    await new Promise((resolve) => setTimeout(resolve, readMs));
    return (await this.#read()) <= -probeAfterMs;
  }
}

/** Returns whether anybody sends media: if not, packets only keep the connection alive. */
function isMediaExpected({ localParticipant, remoteParticipants }: Room): boolean {
  return [localParticipant, ...remoteParticipants.values()].some(({ trackPublications }) =>
    [...trackPublications.values()].some(({ track, isMuted, isEnabled }) => track && !isMuted && isEnabled),
  );
}

async function receivedBy(room: Room): Promise<number | null> {
  // After disconnecting, LiveKit has no engine, against its types.
  const { publisher, subscriber } = (room.engine as Room['engine'] | undefined)?.pcManager ?? {};
  const reports = await Promise.all([publisher?.getStats(), subscriber?.getStats()]);
  const counts = reports.map((report) => report && packetsReceived(report)).filter((received) => typeof received === 'number');
  return counts.length > 0 ? counts.reduce((sum, received) => sum + received, 0) : null;
}
