import type { Room } from 'livekit-client';
import { useEffect, useState } from 'react';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import type { Connection } from '../../visit/state';
import { isSilent, type PacketWatch, packetsReceived, silentMs, watchPackets } from './packetWatch';

const intervalMs = 1_000;

/**
 * Returns whether the visitor's own connection is lost: because no packet has come for a
 * while, or because the page is reconnecting for as long. LiveKit needs many seconds to
 * notice the first, and repairs most of the second before the visitor hears a gap.
 */
export function useConnectionLost(room: Room, connection: Connection): boolean {
  const moving = connection.is === 'rejoining' && connection.moving;
  const reconnecting = useDelayedTrue(connection.is !== 'connected' && !moving, silentMs);
  const [silent, setSilent] = useState(false);
  const connected = connection.is === 'connected';
  useEffect(() => {
    // A silence lasts until packets come again, or until a new connection is made.
    if (!connected) return;
    let stopped = false;
    let watch: PacketWatch | null = null;
    const read = async (): Promise<void> => {
      // A hidden page receives no video, and its timers are slow.
      const received = document.hidden ? null : await receivedBy(room);
      if (stopped) return;
      watch = received === null ? null : watchPackets(watch, received, performance.now());
      setSilent(watch !== null && isSilent(watch));
    };
    void read();
    const timer = setInterval(() => void read(), intervalMs);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [room, connected]);
  return (silent && !moving) || reconnecting;
}

async function receivedBy(room: Room): Promise<number | null> {
  const { publisher, subscriber } = room.engine.pcManager ?? {};
  const reports = await Promise.all([publisher?.getStats(), subscriber?.getStats()]);
  const counts = reports.map((report) => report && packetsReceived(report)).filter((received) => typeof received === 'number');
  return counts.length > 0 ? counts.reduce((sum, received) => sum + received, 0) : null;
}
