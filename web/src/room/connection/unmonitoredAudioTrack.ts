import { LocalAudioTrack } from 'livekit-client';

/**
 * An audio track without LiveKit's silence check, because that opens an audio context,
 * which blocks the page for a tenth of a second while others are rendered. The level in
 * the first view and the device check show a silent microphone.
 */
export class UnmonitoredAudioTrack extends LocalAudioTrack {
  override checkForSilence(): Promise<boolean> {
    return Promise.resolve(false);
  }
}
