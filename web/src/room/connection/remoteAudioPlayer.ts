import {
  RemoteAudioTrack,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  type Room,
  RoomEvent,
  Track,
} from 'livekit-client';
import { keepPlaying } from '../../media/keepPlaying';
import { volumes } from '../people/volumes';
import { screenKey } from '../stage/pins';

/** Plays the audio tracks of others with one audio element each, without waiting for the page to render. */
export class RemoteAudioPlayer {
  readonly #room: Room;
  readonly #elements = document.createElement('div');
  /** The element of each track, and its key in `volumes`. */
  readonly #playing = new Map<RemoteAudioTrack, { element: HTMLMediaElement; key: string; release: () => void }>();
  readonly #unsubscribe: () => void;

  constructor(room: Room) {
    this.#room = room;
    this.#elements.hidden = true;
    document.body.append(this.#elements);
    room
      .on(RoomEvent.TrackSubscribed, this.#play)
      .on(RoomEvent.TrackUnsubscribed, this.#stop)
      // LiveKit unmutes all elements when the visitor turns on the sound.
      .on(RoomEvent.AudioPlaybackStatusChanged, this.#setVolumes);
    this.#unsubscribe = volumes.subscribe(this.#setVolumes);
  }

  /** Stops all playback. */
  stop(): void {
    this.#unsubscribe();
    for (const [track, { release }] of this.#playing) {
      release();
      track.detach();
    }
    this.#playing.clear();
    this.#elements.remove();
  }

  readonly #play = (track: RemoteTrack, { source }: RemoteTrackPublication, { identity }: RemoteParticipant): void => {
    if (!(track instanceof RemoteAudioTrack)) return;
    // Our own element, because LiveKit may reuse its element for another track before
    // this one is detached.
    const element = track.attach(document.createElement('audio'));
    this.#playing.set(track, {
      element,
      key: source === Track.Source.Microphone ? identity : screenKey(identity),
      release: keepPlaying(element, () => this.#restart(element)),
    });
    Object.assign(element.dataset, { identity, source });
    this.#elements.append(element);
    this.#setVolumes();
  };

  readonly #stop = (track: RemoteTrack): void => {
    if (!(track instanceof RemoteAudioTrack)) return;
    track.detach();
    const playing = this.#playing.get(track);
    playing?.release();
    playing?.element.remove();
    this.#playing.delete(track);
  };

  /** If it needs a gesture, LiveKit reports that, and the page shows a banner until the visitor presses its button. */
  async #restart(element: HTMLMediaElement): Promise<void> {
    if (!this.#room.canPlaybackAudio) return;
    await element.play().catch((error: unknown) => {
      if (error instanceof Error && error.name === 'NotAllowedError') return this.#room.startAudio();
    });
  }

  readonly #setVolumes = (): void => {
    const volumeByKey = volumes.get();
    for (const [track, { key, element }] of this.#playing) {
      const volume = volumeByKey.get(key) ?? 1;
      track.setVolume(volume);
      // On an iPhone the volume cannot be set, but the sound can be turned off.
      element.muted = volume === 0;
    }
  };
}
