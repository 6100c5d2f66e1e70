import type { Room } from 'livekit-client';

/**
 * Hides the close of the channel for data tracks from LiveKit, which would log it as an error.
 * livekit-client always opens this channel, and the server closes it immediately because data
 * tracks are turned off.
 */
export function expectDataTrackClose({ engine }: Room): void {
  engine.on('transportsCreated', () => {
    const { pcManager } = engine;
    if (!pcManager) return;
    const create = pcManager.createPublisherDataChannel.bind(pcManager);
    pcManager.createPublisherDataChannel = (label, init) => {
      const channel = create(label, init);
      // This listener runs before LiveKit's, because it is added first.
      if (label === '_data_track') channel.addEventListener('close', (event) => event.stopImmediatePropagation());
      return channel;
    };
  });
}
