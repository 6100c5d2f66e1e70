import { LocalVideoTrack, Track, type LocalTrack, type Room } from 'livekit-client';
import type { Desk, ScreenCapture } from '../media/desk';
import type { Studio } from '../media/studio';
import { readAllowed } from './allowed';
import { CameraTrack } from './stage/camera';
import { savesData } from './stage/choices';
import { VoiceTrack } from './voice';

/**
 * Sends what lies on the studio's desk: published once, muted and replaced as
 * the desk changes. One change at a time, and always towards the newest desk.
 */
export class Sender {
  readonly #room: Room;
  readonly #studio: Studio;
  #mic: VoiceTrack | null = null;
  #camera: CameraTrack | null = null;
  #screen: { video: MediaStreamTrack; tracks: LocalTrack[] } | null = null;
  #unwatch: (() => void)[] | null = null;
  #busy = false;
  #again = false;

  constructor(room: Room, studio: Studio) {
    this.#room = room;
    this.#studio = studio;
  }

  start(): void {
    this.#unwatch ??= [this.#studio.desk.watch(this.follow), savesData.watch(this.follow)];
    this.follow();
  }

  /** Looks again: the desk has changed, or what may be sent. */
  readonly follow = (): void => void this.#follow();

  stop(): void {
    this.#unwatch?.forEach((unwatch) => unwatch());
    this.#unwatch = null;
  }

  async #follow(): Promise<void> {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    while (this.#again && this.#unwatch) {
      this.#again = false;
      const desk = this.#studio.desk.get();
      // Each on its own: a camera that cannot be sent must not silence anybody.
      const allowed = readAllowed(this.#room.localParticipant.permissions);
      await Promise.allSettled([
        allowed.mic ? this.#followMic(desk) : this.#withdrawMic(),
        allowed.camera ? this.#followCamera(desk) : this.#withdrawCamera(),
        this.#followScreen(allowed.screen ? desk.screen : { is: 'off' }),
      ]);
    }
    this.#busy = false;
  }

  async #followMic({ mic, micOn }: Desk): Promise<void> {
    // Another device is on its way: it takes over where the last one stopped.
    if (mic.is === 'asking' && micOn) return;
    const live = mic.is === 'live' ? mic.track : null;
    if (!this.#mic) {
      if (!live) return;
      const track = new VoiceTrack(live);
      if (!micOn) await track.mute();
      await this.#room.localParticipant.publishTrack(track, { source: Track.Source.Microphone });
      this.#mic = track;
      return;
    }
    if (live && this.#mic.mediaStreamTrack !== live) await this.#mic.replaceTrack(live);
    await (live && micOn ? this.#mic.unmute() : this.#mic.mute());
  }

  async #followCamera({ camera }: Desk): Promise<void> {
    if (camera.is === 'asking') return;
    const live = camera.is === 'live' ? camera.track : null;
    if (!this.#camera) {
      if (!live) return;
      const track = new CameraTrack(live);
      await this.#room.localParticipant.publishTrack(track, { source: Track.Source.Camera });
      this.#camera = track;
    } else {
      if (live && this.#camera.mediaStreamTrack !== live) await this.#camera.replaceTrack(live);
      await (live ? this.#camera.unmute() : this.#camera.mute());
    }
    await this.#camera.holdLow(savesData.get());
  }

  /** The server has ended it already; given leave again, it is published anew. */
  async #withdrawMic(): Promise<void> {
    const track = this.#mic;
    this.#mic = null;
    if (track) await this.#room.localParticipant.unpublishTrack(track);
  }

  async #withdrawCamera(): Promise<void> {
    const track = this.#camera;
    this.#camera = null;
    if (track) await this.#room.localParticipant.unpublishTrack(track);
  }

  async #followScreen(screen: ScreenCapture): Promise<void> {
    const video = screen.is === 'live' ? screen.video : null;
    if (this.#screen && this.#screen.video !== video) {
      const { tracks } = this.#screen;
      this.#screen = null;
      await this.#room.localParticipant.unpublishTracks(tracks);
    }
    if (screen.is !== 'live' || this.#screen) return;
    const tracks: LocalTrack[] = [new LocalVideoTrack(screen.video)];
    if (screen.audio) tracks.push(new VoiceTrack(screen.audio));
    this.#screen = { video: screen.video, tracks };
    for (const track of tracks) {
      await this.#room.localParticipant.publishTrack(
        track,
        track.kind === Track.Kind.Video
          ? { source: Track.Source.ScreenShare }
          : // It may be music, of which nothing between the words may be left out.
            { source: Track.Source.ScreenShareAudio, dtx: false },
      );
    }
  }
}
