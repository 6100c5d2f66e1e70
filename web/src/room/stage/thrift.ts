import { RoomEvent, Track, type RemoteTrackPublication, type Room } from 'livekit-client';
import { savesData } from './choices';

/**
 * Keeps the cameras of the others off while the visitor saves data: they are
 * not subscribed, so nothing of them is sent here. Screens stay; they are
 * small for what they tell.
 */
export class Thrift {
  readonly #room: Room;
  readonly #unwatch: () => void;

  constructor(room: Room) {
    this.#room = room;
    this.#unwatch = savesData.watch(this.#all);
    room.on(RoomEvent.Connected, this.#all).on(RoomEvent.TrackPublished, this.#one);
  }

  stop(): void {
    this.#unwatch();
  }

  readonly #all = (): void => {
    for (const { trackPublications } of this.#room.remoteParticipants.values()) {
      for (const publication of trackPublications.values()) this.#one(publication);
    }
  };

  readonly #one = (publication: RemoteTrackPublication): void => {
    const saves = savesData.get();
    if (publication.source === Track.Source.Camera && publication.isDesired === saves) publication.setSubscribed(!saves);
  };
}
