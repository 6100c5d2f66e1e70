import { LocalVideoTrack, VideoQuality } from 'livekit-client';

type Layers = Parameters<LocalVideoTrack['setPublishingLayers']>;

/**
 * A camera of which only the smallest layer may be sent. The server asks for
 * the layers that somebody watches (dynacast); while this one is held low it
 * gets no other.
 */
export class CameraTrack extends LocalVideoTrack {
  #low = false;
  #asked: Layers | null = null;

  async holdLow(low: boolean): Promise<void> {
    if (low === this.#low) return;
    this.#low = low;
    if (this.#asked) await this.setPublishingLayers(...this.#asked);
    else this.setPublishingQuality(VideoQuality.HIGH);
  }

  override async setPublishingLayers(...asked: Layers): Promise<void> {
    this.#asked = asked;
    const [isSvc, qualities] = asked;
    await super.setPublishingLayers(isSvc, this.#low ? qualities.map(lowest) : qualities);
  }
}

function lowest(layer: Layers[1][number]): Layers[1][number] {
  const allowed = layer.clone();
  allowed.enabled = layer.enabled && layer.quality === (VideoQuality.LOW as number);
  return allowed;
}
