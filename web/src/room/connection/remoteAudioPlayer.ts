import {
  RemoteAudioTrack,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  type Room,
  RoomEvent,
  Track,
} from 'livekit-client';
import { volumes } from '../people/volumes';
import { screenKey } from '../stage/pins';

/** Plays the audio tracks of others with one audio element each, without waiting for the page to render. */
export class RemoteAudioPlayer {
  readonly #room: Room;
  readonly #elements = document.createElement('div');
  /** The element of each track, and its key in `volumes`. */
  readonly #playing = new Map<RemoteAudioTrack, { element: HTMLMediaElement; key: string }>();
  readonly #unsubscribe: () => void;

  constructor(room: Room) {
    this.#room = room;
    this.#elements.hidden = true;
    document.body.append(this.#elements);
    room.on(RoomEvent.TrackSubscribed, this.#play).on(RoomEvent.TrackUnsubscribed, this.#stop);
    this.#unsubscribe = volumes.subscribe(this.#setVolumes);
    document.addEventListener('visibilitychange', this.#resume);
  }

  /** Stops all playback. */
  stop(): void {
    this.#unsubscribe();
    document.removeEventListener('visibilitychange', this.#resume);
    for (const track of this.#playing.keys()) track.detach();
    this.#playing.clear();
    this.#elements.remove();
  }

  readonly #play = (track: RemoteTrack, { source }: RemoteTrackPublication, { identity }: RemoteParticipant): void => {
    if (!(track instanceof RemoteAudioTrack)) return;
    // Our own element, because LiveKit may reuse its element for another track before
    // this one is detached.
    const element = track.attach(document.createElement('audio'));
    this.#playing.set(track, { element, key: source === Track.Source.Microphone ? identity : screenKey(identity) });
    Object.assign(element.dataset, { identity, source });
    this.#elements.append(element);
    this.#setVolumes();
  };

  readonly #stop = (track: RemoteTrack): void => {
    if (!(track instanceof RemoteAudioTrack)) return;
    track.detach();
    this.#playing.get(track)?.element.remove();
    this.#playing.delete(track);
  };

  /**
   * A phone call stops playback, and nothing else restarts it. If that needs a gesture,
   * the page shows a banner.
   */
  readonly #resume = (): void => {
    if (document.hidden) return;
    if ([...this.#playing.values()].some(({ element }) => element.paused)) void this.#room.startAudio().catch(() => undefined);
  };

  readonly #setVolumes = (): void => {
    const volumeByKey = volumes.get();
    for (const [track, { key }] of this.#playing) track.setVolume(volumeByKey.get(key) ?? 1);
  };
}
