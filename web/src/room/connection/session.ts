import { type DisconnectReason, Room, RoomEvent } from 'livekit-client';
import type { RoomType, Seat } from '../../api/client';
import type { LocalMedia } from '../../media/localMedia';
import { deviceToOpen } from '../../media/mediaState';
import type { Announcement, DisconnectCause } from '../../visit/state';
import { Inbox } from '../chat/inbox';
import { Reactions } from '../reactions/reactions';
import { DataSaver } from './dataSaver';
import { expectDataTrackClose } from './dataTrackChannel';
import { disconnectCauseOf } from './disconnectCause';
import { PacketMonitor } from './packetMonitor';
import { quickReconnectPolicy } from './reconnectPolicy';
import { RemoteAudioPlayer } from './remoteAudioPlayer';
import { ServerMessages } from './serverMessages';
import { SpeakerOutput } from './speakerOutput';
import { TrackPublisher } from './trackPublisher';

export interface SessionHandlers {
  onDisconnected: (cause: DisconnectCause) => void;
  onReconnecting: (reconnecting: boolean) => void;
  onAnnouncement: (announcement: Announcement) => void;
}

const mediaTimeoutMs = 8_000;
const reconnectTimeoutMs = 10_000;
const publishTimeoutMs = 250;
/** On a phone, a click on an element that is not a button does not reach the document. */
const userGestures = ['touchend', 'click'] as const;

/** One media connection. Rejoining creates a new one. */
export class Session {
  readonly room: Room;
  readonly packets: PacketMonitor;
  readonly inbox: Inbox;
  readonly serverMessages: ServerMessages;
  readonly reactions = new Reactions();
  readonly #handlers: SessionHandlers;
  readonly #publisher: TrackPublisher;
  readonly #audioPlayer: RemoteAudioPlayer;
  readonly #speaker: SpeakerOutput;
  readonly #dataSaver: DataSaver;
  #closed = false;
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(type: RoomType, localMedia: LocalMedia, handlers: SessionHandlers) {
    this.#handlers = handlers;
    const speaker = deviceToOpen(localMedia.state.get(), 'speaker');
    this.room = new Room({
      // Videos are received in the displayed size and only while they are visible; a
      // camera sends three layers, and of these only the ones in use.
      adaptiveStream: true,
      dynacast: true,
      // An audio room rejects the empty video sections that a single peer connection
      // offers first, so that two peer connections save a round trip.
      singlePeerConnection: type === 'video',
      // LocalMedia owns the tracks, and they outlive this connection.
      stopLocalTrackOnUnpublish: false,
      reconnectPolicy: quickReconnectPolicy,
      ...(speaker && { audioOutput: { deviceId: speaker } }),
    });
    expectDataTrackClose(this.room);
    this.#publisher = new TrackPublisher(this.room, localMedia);
    this.#audioPlayer = new RemoteAudioPlayer(this.room);
    this.#speaker = new SpeakerOutput(this.room, localMedia);
    this.#dataSaver = new DataSaver(this.room);
    this.inbox = new Inbox(this.room);
    this.serverMessages = new ServerMessages(this.room);
    this.serverMessages.subscribe({
      move: () => this.#handlers.onDisconnected('moved'),
      reaction: ({ identity, reaction }) => this.reactions.show(identity, reaction),
      broadcast: (announcement) => this.#handlers.onAnnouncement(announcement),
    });
    this.packets = new PacketMonitor(this.room, this.#abandon);
    this.room
      .on(RoomEvent.SignalConnected, this.#publisher.sync)
      .on(RoomEvent.ParticipantPermissionsChanged, this.#publisher.sync)
      .on(RoomEvent.SignalReconnecting, this.#handleReconnecting)
      .on(RoomEvent.Reconnected, this.#handleReconnected)
      // LiveKit would reconnect with its old token and wait for seconds. A new seat is
      // faster and works after a restart of the server.
      .on(RoomEvent.Reconnecting, () => (navigator.onLine ? this.#abandon() : this.#handleReconnecting()))
      .on(RoomEvent.VideoPlaybackStatusChanged, (playing) => {
        for (const gesture of userGestures) {
          if (playing) document.removeEventListener(gesture, this.#startVideo);
          else document.addEventListener(gesture, this.#startVideo);
        }
      })
      .on(RoomEvent.Disconnected, this.#handleDisconnected);
  }

  /** Whether the connection has not been closed. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  /**
   * Resolves to false when the media connection could not be made. `timeoutMs` is how long the server may
   * take until it responds.
   */
  async connect(seat: Seat, timeoutMs: number): Promise<boolean> {
    try {
      await this.room.connect(location.origin.replace(/^http/, 'ws'), seat.media_token, {
        // None, because the page's own retries begin with a seat.
        maxRetries: 0,
        websocketTimeout: timeoutMs,
        peerConnectionTimeout: mediaTimeoutMs,
      });
      if (this.#closed) return false;
      this.packets.start();
      // After the first render, because publishing would delay the audio and video of others.
      requestAnimationFrame(() => setTimeout(this.#startPublishing));
      // A hidden page renders nothing.
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

  /** Closes the connection without notifying the visit. */
  leave(): void {
    if (this.#closed) return;
    this.#close();
    void this.room.disconnect(false);
  }

  /** A phone in low-power mode plays no video before a gesture. */
  readonly #startVideo = (): void => void this.room.startVideo();

  readonly #handleReconnecting = (): void => {
    this.#handlers.onReconnecting(true);
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = setTimeout(this.#abandon, reconnectTimeoutMs);
  };

  readonly #handleReconnected = (): void => {
    clearTimeout(this.#reconnectTimer);
    this.#handlers.onReconnecting(false);
  };

  readonly #abandon = (): void => {
    if (this.#closed) return;
    this.leave();
    this.#handlers.onDisconnected('lost');
  };

  readonly #handleDisconnected = (reason?: DisconnectReason): void => {
    if (this.#closed) return;
    this.#close();
    // LiveKit disconnects by itself when a phone freezes the tab, which counts as lost, too.
    this.#handlers.onDisconnected(disconnectCauseOf(reason));
  };

  #close(): void {
    this.#closed = true;
    for (const gesture of userGestures) document.removeEventListener(gesture, this.#startVideo);
    clearTimeout(this.#reconnectTimer);
    this.packets.stop();
    this.#publisher.stop();
    this.#audioPlayer.stop();
    this.#speaker.stop();
    this.#dataSaver.stop();
  }
}
