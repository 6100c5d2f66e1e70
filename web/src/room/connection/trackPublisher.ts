import { type LocalTrack, LocalVideoTrack, type Room, ScreenSharePresets, Track, type TrackPublishOptions } from 'livekit-client';
import type { LocalMedia } from '../../media/localMedia';
import type { MediaState, ScreenCapture } from '../../media/mediaState';
import { saveData } from '../stage/viewPreferences';
import { CameraTrack } from './cameraTrack';
import { readPublishPermissions } from './publishPermissions';
import { UnmonitoredAudioTrack } from './unmonitoredAudioTrack';

/** LiveKit's own choice is 15 pictures a second and full resolution, which suits text. */
const motionOptions: TrackPublishOptions = {
  screenShareEncoding: ScreenSharePresets.h1080fps30.encoding,
  degradationPreference: 'maintain-framerate',
};

/**
 * Publishes the local tracks: once each, then muted and replaced as the local media
 * change. One change runs at a time, always towards the latest state.
 */
export class TrackPublisher {
  readonly #room: Room;
  readonly #localMedia: LocalMedia;
  #mic: UnmonitoredAudioTrack | null = null;
  #camera: CameraTrack | null = null;
  #screen: { video: MediaStreamTrack; motion: boolean; tracks: LocalTrack[] } | null = null;
  #unsubscribe: (() => void)[] | null = null;
  #busy = false;
  #syncAgain = false;

  constructor(room: Room, localMedia: LocalMedia) {
    this.#room = room;
    this.#localMedia = localMedia;
  }

  start(): void {
    this.#unsubscribe ??= [this.#localMedia.state.subscribe(this.sync), saveData.subscribe(this.sync)];
    this.sync();
  }

  /** Called when the local media or the permissions have changed. */
  readonly sync = (): void => void this.#syncLoop();

  stop(): void {
    for (const unsubscribe of this.#unsubscribe ?? []) unsubscribe();
    this.#unsubscribe = null;
  }

  async #syncLoop(): Promise<void> {
    this.#syncAgain = true;
    if (this.#busy) return;
    this.#busy = true;
    while (this.#syncAgain && this.#unsubscribe) {
      this.#syncAgain = false;
      const mediaState = this.#localMedia.state.get();
      // Independently, so that a camera that cannot be published does not affect the microphone.
      const allowed = readPublishPermissions(this.#room.localParticipant.permissions);
      await Promise.allSettled([
        allowed.mic ? this.#syncMic(mediaState) : this.#unpublishMic(),
        allowed.camera ? this.#syncCamera(mediaState) : this.#unpublishCamera(),
        this.#syncScreen(allowed.screen ? mediaState.screen : { is: 'off' }, mediaState.screenMotion),
      ]);
    }
    this.#busy = false;
  }

  async #syncMic({ mic, micOn }: MediaState): Promise<void> {
    // Another device is being opened and will replace the current track.
    if (mic.is === 'requesting' && micOn) return;
    const live = mic.is === 'live' ? mic.track : null;
    if (!this.#mic) {
      if (!live) return;
      const track = new UnmonitoredAudioTrack(live);
      if (!micOn) await track.mute();
      await this.#room.localParticipant.publishTrack(track, { source: Track.Source.Microphone });
      this.#mic = track;
      return;
    }
    if (live && this.#mic.mediaStreamTrack !== live) await this.#mic.replaceTrack(live);
    await (live && micOn ? this.#mic.unmute() : this.#mic.mute());
  }

  async #syncCamera({ camera }: MediaState): Promise<void> {
    if (camera.is === 'requesting') return;
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
    await this.#camera.setLowQualityOnly(saveData.get());
  }

  /** The server has unpublished it already. When it is allowed again, it is published anew. */
  async #unpublishMic(): Promise<void> {
    const track = this.#mic;
    this.#mic = null;
    if (track) await this.#room.localParticipant.unpublishTrack(track);
  }

  async #unpublishCamera(): Promise<void> {
    const track = this.#camera;
    this.#camera = null;
    if (track) await this.#room.localParticipant.unpublishTrack(track);
  }

  async #syncScreen(screen: ScreenCapture, motion: boolean): Promise<void> {
    const video = screen.is === 'live' ? screen.video : null;
    if (this.#screen && (this.#screen.video !== video || this.#screen.motion !== motion)) {
      const { tracks } = this.#screen;
      this.#screen = null;
      // The capture goes on if it is published again with another encoding.
      await Promise.all(tracks.map((track) => this.#room.localParticipant.unpublishTrack(track, false)));
    }
    if (screen.is !== 'live' || this.#screen) return;
    const tracks: LocalTrack[] = [new LocalVideoTrack(screen.video)];
    if (screen.audio) tracks.push(new UnmonitoredAudioTrack(screen.audio));
    this.#screen = { video: screen.video, motion, tracks };
    screen.video.contentHint = motion ? 'motion' : 'detail';
    for (const track of tracks) {
      await this.#room.localParticipant.publishTrack(
        track,
        track.kind === Track.Kind.Video
          ? { source: Track.Source.ScreenShare, ...(motion && motionOptions) }
          : // It may be music, so that discontinuous transmission has to be off.
            { source: Track.Source.ScreenShareAudio, dtx: false },
      );
    }
  }
}
