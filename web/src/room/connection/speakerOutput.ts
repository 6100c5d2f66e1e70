import { type Room, RoomEvent } from 'livekit-client';
import type { LocalMedia } from '../../media/localMedia';
import { deviceToOpen, type MediaState } from '../../media/mediaState';
import { RetrySchedule } from '../../media/retrySchedule';

/**
 * Plays the others on the speaker that the visitor has chosen, while it is connected, and
 * reports the speaker in use. A new connection is created with it.
 */
export class SpeakerOutput {
  readonly #room: Room;
  readonly #localMedia: LocalMedia;
  readonly #unsubscribe: () => void;
  #switching = false;
  /** The choice and the devices with which a speaker could not be used: it is tried again after a growing pause. */
  #failedWith: Pick<MediaState, 'selectedDevices' | 'devices'> | null = null;
  readonly #retries = new RetrySchedule();
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(room: Room, localMedia: LocalMedia) {
    this.#room = room;
    this.#localMedia = localMedia;
    this.#unsubscribe = localMedia.state.subscribe(this.#sync);
    // LiveKit itself changes to another speaker when devices come and go.
    room.on(RoomEvent.ActiveDeviceChanged, this.#sync);
    this.#localMedia.setSpeakerInUse(this.#inUse());
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retryTimer);
    this.#unsubscribe();
    this.#room.off(RoomEvent.ActiveDeviceChanged, this.#sync);
    this.#localMedia.setSpeakerInUse(null);
  }

  #inUse(): string {
    const id = this.#room.getActiveDevice('audiooutput') ?? '';
    return id === 'default' ? '' : id;
  }

  readonly #sync = (): void => void this.#switch();

  readonly #retry = (): void => {
    this.#failedWith = null;
    this.#sync();
  };

  async #switch(): Promise<void> {
    if (this.#switching) return;
    this.#switching = true;
    for (let mediaState = this.#localMedia.state.get(); this.#shouldSwitch(mediaState); mediaState = this.#localMedia.state.get()) {
      // Some browsers have a device with the name "default", and LiveKit leaves that one alone.
      const defaultId = mediaState.defaultNames.speaker ? 'default' : '';
      try {
        await this.#room.switchActiveDevice('audiooutput', deviceToOpen(mediaState, 'speaker') || defaultId);
        this.#retries.restart(performance.now());
      } catch {
        if (this.#stopped) break;
        // The browser continues with the speaker before.
        this.#failedWith = mediaState;
        this.#retries.failed(performance.now());
        clearTimeout(this.#retryTimer);
        this.#retryTimer = setTimeout(this.#retry, this.#retries.delay(performance.now()));
      }
    }
    this.#switching = false;
    if (this.#stopped) return;
    this.#localMedia.setSpeakerInUse(this.#inUse());
  }

  #shouldSwitch(mediaState: MediaState): boolean {
    if (this.#stopped || deviceToOpen(mediaState, 'speaker') === this.#inUse()) return false;
    return mediaState.devices !== this.#failedWith?.devices || mediaState.selectedDevices !== this.#failedWith.selectedDevices;
  }
}
