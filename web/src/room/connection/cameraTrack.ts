import { LocalVideoTrack, VideoQuality } from 'livekit-client';

type Layers = Parameters<LocalVideoTrack['setPublishingLayers']>;

/**
 * A camera track that can be limited to its smallest layer. The server requests the layers
 * in use (dynacast); while limited, the others stay disabled.
 */
export class CameraTrack extends LocalVideoTrack {
  #lowQualityOnly = false;
  #requestedLayers: Layers | null = null;

  async setLowQualityOnly(lowQualityOnly: boolean): Promise<void> {
    if (lowQualityOnly === this.#lowQualityOnly) return;
    this.#lowQualityOnly = lowQualityOnly;
    if (this.#requestedLayers) await this.setPublishingLayers(...this.#requestedLayers);
    else this.setPublishingQuality(VideoQuality.HIGH);
  }

  override async setPublishingLayers(...requestedLayers: Layers): Promise<void> {
    this.#requestedLayers = requestedLayers;
    const [isSvc, qualities] = requestedLayers;
    await super.setPublishingLayers(isSvc, this.#lowQualityOnly ? qualities.map(onlyLowest) : qualities);
  }
}

function onlyLowest(layer: Layers[1][number]): Layers[1][number] {
  const allowed = layer.clone();
  allowed.enabled = layer.enabled && layer.quality === (VideoQuality.LOW as number);
  return allowed;
}
