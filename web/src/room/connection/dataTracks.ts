import { type DataChannelKind, type Room, RoomEvent } from 'livekit-client';

/** LiveKit exports the type of this value, and not the value. */
const dataTracks: DataChannelKind = 2;

/**
 * Keeps LiveKit from reporting an error when the server, which allows no data tracks, closes
 * their channel while the connection is made.
 */
export function expectNoDataTracks(room: Room): void {
  room.on(RoomEvent.SignalConnected, () => {
    const channel = room.engine.dataChannelForKind(dataTracks);
    if (channel) channel.onclose = null;
  });
}
