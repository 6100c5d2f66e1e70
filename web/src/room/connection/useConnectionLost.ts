import { useStore } from '../../state/useStore';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import type { Connection } from '../../visit/state';
import type { PacketMonitor } from './packetMonitor';

const reconnectingMs = 2_000;

/**
 * Returns whether the visitor's own connection is lost: no packet has come for a while, or the page is
 * reconnecting for as long. LiveKit needs many seconds to notice the first, and repairs most of the second
 * before the visitor hears a gap.
 */
export function useConnectionLost(packets: PacketMonitor, connection: Connection): boolean {
  const moving = connection.is === 'rejoining' && connection.moving;
  const reconnecting = useDelayedTrue(connection.is !== 'connected' && !moving, reconnectingMs);
  const silent = useStore(packets.silent);
  return (silent && !moving) || reconnecting;
}
