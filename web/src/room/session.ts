import { Room, RoomEvent, type DisconnectReason } from 'livekit-client';
import type { RoomType, Seat } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import type { DisconnectCause, Announcement } from '../visit/state';
import { Inbox } from './chat/inbox';
import { disconnectCauseOf } from './disconnectCause';
import { readServerMessage } from './serverMessage';
import { quickReconnectPolicy } from './reconnectPolicy';
import { TrackPublisher } from './trackPublisher';
import { RemoteAudioPlayer } from './remoteAudioPlayer';
import { DataSaver } from './stage/dataSaver';
import { Reactions } from './reactions/reactions';

export interface SessionHandlers {
  onDisconnected: (loss: DisconnectCause) => void;
  onReconnecting: (reconnecting: boolean) => void;
  onAnnouncement: (announcement: Announcement) => void;
}

const connectTimeoutMs = 8_000;
const reconnectTimeoutMs = 10_000;
const publishTimeoutMs = 250;
/** On a phone, a click on what is no button does not come as far as the document. */
const userGestures = ['touchend', 'click'] as const;

/** One media connection. Coming back makes a new one. */
export class Session {
  readonly room: Room;
  readonly inbox: Inbox;
  readonly reactions = new Reactions();
  readonly #handlers: SessionHandlers;
  readonly #publisher: TrackPublisher;
  readonly #audioPlayer: RemoteAudioPlayer;
  readonly #dataSaver: DataSaver;
  #closed = false;
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(type: RoomType, localMedia: LocalMedia, handlers: SessionHandlers) {
    this.#handlers = handlers;
    const speaker = localMedia.state.get().selectedDevices.speaker;
    this.room = new Room({
      // Each picture comes as large as it is shown, and not at all while it is
      // not; a camera sends three sizes, and of them what somebody watches.
      adaptiveStream: true,
      dynacast: true,
      // A room for sound only refuses the empty places for pictures that a
      // single connection offers first; asking for two saves a detour.
      singlePeerConnection: type === 'video',
      // The studio owns the tracks, and they outlive this connection.
      stopLocalTrackOnUnpublish: false,
      reconnectPolicy: quickReconnectPolicy,
      ...(speaker && { audioOutput: { deviceId: speaker } }),
    });
    this.#publisher = new TrackPublisher(this.room, localMedia);
    this.#audioPlayer = new RemoteAudioPlayer(this.room);
    this.#dataSaver = new DataSaver(this.room);
    this.inbox = new Inbox(this.room);
    this.room
      .on(RoomEvent.SignalConnected, this.#publisher.sync)
      .on(RoomEvent.ParticipantPermissionsChanged, this.#publisher.sync)
      .on(RoomEvent.SignalReconnecting, this.#handleReconnecting)
      .on(RoomEvent.Reconnected, this.#handleReconnected)
      // LiveKit would now build everything anew with its old pass, and wait
      // seconds to be sure; a new seat is quicker and works after a restart.
      .on(RoomEvent.Reconnecting, () => (navigator.onLine ? this.#giveUp() : this.#handleReconnecting()))
      .on(RoomEvent.DataReceived, (payload, sender, _kind, topic, _encryption, identity) => {
        const message = readServerMessage(topic, payload, sender?.identity || identity);
        if (message?.kind === 'move') this.#handlers.onDisconnected('moved');
        else if (message?.kind === 'reaction') this.reactions.show(message.identity, message.reaction);
        else if (message?.kind === 'broadcast') this.#handlers.onAnnouncement(message);
      })
      .on(RoomEvent.VideoPlaybackStatusChanged, (playing) => {
        for (const gesture of userGestures) {
          if (playing) document.removeEventListener(gesture, this.#startVideo);
          else document.addEventListener(gesture, this.#startVideo);
        }
      })
      .on(RoomEvent.Disconnected, this.#handleDisconnected);
  }

  /** Nobody and nothing has ended it so far. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  /** False when the connection for sound and pictures could not be made. */
  async connect(seat: Seat): Promise<boolean> {
    try {
      await this.room.connect(location.origin.replace(/^http/, 'ws'), seat.media_token, {
        // The page's own retries begin with a seat, so these need none.
        maxRetries: 0,
        websocketTimeout: connectTimeoutMs,
        peerConnectionTimeout: connectTimeoutMs,
      });
      if (this.#closed) return false;
      // Not before they are drawn: others would be heard and seen later for it.
      requestAnimationFrame(() => setTimeout(this.#startPublishing));
      // A page that nobody sees draws nothing.
      setTimeout(this.#startPublishing, publishTimeoutMs);
      return true;
    } catch {
      this.leave();
      return false;
    }
  }

  readonly #startPublishing = (): void => {
    if (!this.#closed) this.#publisher.start();
  };

  /** Ends it without a word to the visit. */
  leave(): void {
    if (this.#closed) return;
    this.#close();
    void this.room.disconnect(false);
  }

  /** A phone that saves its battery plays no picture before something is pressed, whatever it is. */
  readonly #startVideo = (): void => void this.room.startVideo();

  readonly #handleReconnecting = (): void => {
    this.#handlers.onReconnecting(true);
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = setTimeout(this.#giveUp, reconnectTimeoutMs);
  };

  readonly #handleReconnected = (): void => {
    clearTimeout(this.#reconnectTimer);
    this.#handlers.onReconnecting(false);
  };

  readonly #giveUp = (): void => {
    if (this.#closed) return;
    this.leave();
    this.#handlers.onDisconnected('lost');
  };

  readonly #handleDisconnected = (reason?: DisconnectReason): void => {
    if (this.#closed) return;
    this.#close();
    // A phone that freezes the tab makes LiveKit say goodbye by itself: that is lost too.
    this.#handlers.onDisconnected(disconnectCauseOf(reason));
  };

  #close(): void {
    this.#closed = true;
    for (const gesture of userGestures) document.removeEventListener(gesture, this.#startVideo);
    clearTimeout(this.#reconnectTimer);
    this.#publisher.stop();
    this.#audioPlayer.stop();
    this.#dataSaver.stop();
  }
}
