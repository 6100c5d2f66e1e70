import { RemoteAudioTrack, RoomEvent, Track, type RemoteParticipant, type RemoteTrack, type RemoteTrackPublication, type Room } from 'livekit-client';
import { screenOf } from './stage/pins';
import { volumes } from './stage/volumes';

/**
 * Plays what others send, from the moment it comes: one element for each voice
 * and each screen's sound, which waits for nothing to be drawn.
 */
export class Speakers {
  readonly #elements = document.createElement('div');
  readonly #playing = new Map<RemoteAudioTrack, string>();
  readonly #unwatch: () => void;

  constructor(room: Room) {
    this.#elements.hidden = true;
    document.body.append(this.#elements);
    room.on(RoomEvent.TrackSubscribed, this.#play).on(RoomEvent.TrackUnsubscribed, this.#stop);
    this.#unwatch = volumes.watch(this.#setVolumes);
  }

  /** Falls silent. */
  stop(): void {
    this.#unwatch();
    for (const track of this.#playing.keys()) track.detach();
    this.#playing.clear();
    this.#elements.remove();
  }

  readonly #play = (track: RemoteTrack, { source }: RemoteTrackPublication, { identity }: RemoteParticipant): void => {
    if (!(track instanceof RemoteAudioTrack)) return;
    this.#playing.set(track, source === Track.Source.Microphone ? identity : screenOf(identity));
    const element = track.attach();
    Object.assign(element.dataset, { identity, source });
    this.#elements.append(element);
    this.#setVolumes();
  };

  readonly #stop = (track: RemoteTrack): void => {
    if (!(track instanceof RemoteAudioTrack) || !this.#playing.delete(track)) return;
    for (const element of track.detach()) element.remove();
  };

  readonly #setVolumes = (): void => {
    const loud = volumes.get();
    for (const [track, key] of this.#playing) track.setVolume(loud.get(key) ?? 1);
  };
}
