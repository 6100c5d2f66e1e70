import type { Room } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import type { Connection } from '../../visit/state';
import { type PacketWatch, packetsReceived, untilSilent, watchPackets } from './packetWatch';

const intervalMs = 500;
const reconnectingMs = 2_000;

export interface OwnConnection {
  lost: boolean;
  /** When the last packet was received; null if the browser does not tell. */
  packetAt: { readonly current: number | null };
}

/**
 * Returns the state of the visitor's own connection. It is lost if no packet has come for a
 * while, or if the page is reconnecting for as long. LiveKit needs many seconds to notice
 * the first, and repairs most of the second before the visitor hears a gap.
 */
export function useConnectionLost(room: Room, connection: Connection): OwnConnection {
  const moving = connection.is === 'rejoining' && connection.moving;
  const reconnecting = useDelayedTrue(connection.is !== 'connected' && !moving, reconnectingMs);
  const [silent, setSilent] = useState(false);
  const packetAt = useRef<number | null>(null);
  // While LiveKit reconnects, the same connection may continue.
  const watching = connection.is === 'connected' || connection.is === 'reconnecting';
  useEffect(() => {
    // A silence lasts until packets come again, or until a new connection is made.
    if (!watching) return;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let watch: PacketWatch | null = null;
    const read = async (): Promise<void> => {
      // A hidden page receives no video, and its timers are slow. LiveKit closes a connection
      // before it makes the next one. The silence lasts meanwhile.
      const received = document.hidden ? null : await receivedBy(room);
      if (stopped) return;
      if (received !== null) watch = watchPackets(watch, received, performance.now());
      packetAt.current = watch?.at ?? null;
      const left = watch === null ? Infinity : untilSilent(watch, isMediaExpected(room));
      setSilent(left <= 0);
      timer = setTimeout(() => void read(), left > 0 ? Math.min(left, intervalMs) : intervalMs);
    };
    void read();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [room, watching]);
  return { lost: (silent && !moving) || reconnecting, packetAt };
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
