import { type RemoteTrackPublication, type Room, RoomEvent, Track } from 'livekit-client';
import { saveData } from '../stage/viewPreferences';

/**
 * Unsubscribes from the cameras of others while the visitor saves data, so that the server
 * sends none of them. Screens stay, because they need little data for their content.
 */
export class DataSaver {
  readonly #room: Room;
  readonly #unsubscribe: () => void;

  constructor(room: Room) {
    this.#room = room;
    this.#unsubscribe = saveData.subscribe(this.#updateAll);
    room.on(RoomEvent.Connected, this.#updateAll).on(RoomEvent.TrackPublished, this.#update);
  }

  stop(): void {
    this.#unsubscribe();
  }

  readonly #updateAll = (): void => {
    for (const { trackPublications } of this.#room.remoteParticipants.values()) {
      for (const publication of trackPublications.values()) this.#update(publication);
    }
  };

  readonly #update = (publication: RemoteTrackPublication): void => {
    const saving = saveData.get();
    if (publication.source === Track.Source.Camera && publication.isDesired === saving) publication.setSubscribed(!saving);
  };
}
