import { LatestRequest } from './latestRequest';
import type { ScreenCapture } from './mediaState';

/** A setting that some browsers support and TypeScript does not know (https://www.w3.org/TR/screen-capture/#dfn-restrictownaudio). */
type AudioConstraints = MediaTrackConstraints & { restrictOwnAudio?: boolean };
type SupportedConstraints = MediaTrackSupportedConstraints & { restrictOwnAudio?: boolean };

/** Without this, the sound of the whole system would return the voices of the others to them. */
function audioConstraints(): AudioConstraints | true {
  const supported: SupportedConstraints = navigator.mediaDevices.getSupportedConstraints();
  return supported.restrictOwnAudio ? { restrictOwnAudio: true } : true;
}

/** The visitor's shared screen: at most one capture, and none that is no longer wanted. */
export class ScreenShare {
  readonly #onChange: (capture: ScreenCapture) => void;
  readonly #request = new LatestRequest();
  #capture: ScreenCapture = { is: 'off' };

  constructor(onChange: (capture: ScreenCapture) => void) {
    this.#onChange = onChange;
  }

  /** Asks the visitor for a screen. What is granted after `stop` or after a newer request is stopped at once. */
  async start(): Promise<void> {
    const request = this.#request.begin();
    // So that another failure is shown again.
    if (this.#capture.is === 'failed') this.#set({ is: 'off' });
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: audioConstraints() });
      const [video] = stream.getVideoTracks();
      if (!request.end() || !video || video.readyState === 'ended') {
        for (const track of stream.getTracks()) track.stop();
        return;
      }
      this.#release();
      // The browser has its own button to stop sharing.
      video.addEventListener('ended', () => this.#ended(video));
      this.#set({ is: 'live', video, audio: stream.getAudioTracks()[0] ?? null });
    } catch (error) {
      if (!request.end() || this.#capture.is === 'live') return;
      const canceled = error instanceof Error && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      this.#set({ is: canceled ? 'off' : 'failed' });
    }
  }

  stop(): void {
    this.#request.cancel();
    this.#release();
    if (this.#capture.is !== 'off') this.#set({ is: 'off' });
  }

  #ended(video: MediaStreamTrack): void {
    if (this.#capture.is !== 'live' || this.#capture.video !== video) return;
    this.#release();
    this.#set({ is: 'off' });
  }

  #release(): void {
    if (this.#capture.is !== 'live') return;
    this.#capture.video.stop();
    this.#capture.audio?.stop();
  }

  #set(capture: ScreenCapture): void {
    this.#capture = capture;
    this.#onChange(capture);
  }
}
