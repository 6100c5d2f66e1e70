import { Room, RoomEvent, type DisconnectReason } from 'livekit-client';
import type { RoomType, Seat } from '../api/client';
import type { Studio } from '../media/studio';
import type { Loss, Word } from '../visit/state';
import { Inbox } from './chat/inbox';
import { lossOf } from './loss';
import { readMessage } from './message';
import { quickRetries } from './patience';
import { Sender } from './sender';
import { Speakers } from './speakers';
import { Thrift } from './stage/thrift';
import { Reactions } from './together/reactions';

export interface SessionWatch {
  dropped: (loss: Loss) => void;
  shaky: (shaky: boolean) => void;
  told: (word: Word) => void;
}

const connectPatience = 8_000;
const mendPatience = 10_000;
const drawingPatience = 250;
/** On a phone, a click on what is no button does not come as far as the document. */
const presses = ['touchend', 'click'] as const;

/** One media connection. Coming back makes a new one. */
export class Session {
  readonly room: Room;
  readonly inbox: Inbox;
  readonly reactions = new Reactions();
  readonly #watch: SessionWatch;
  readonly #sender: Sender;
  readonly #speakers: Speakers;
  readonly #thrift: Thrift;
  #over = false;
  #mending: ReturnType<typeof setTimeout> | undefined;

  constructor(type: RoomType, studio: Studio, watch: SessionWatch) {
    this.#watch = watch;
    const speaker = studio.desk.get().chosen.speaker;
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
      reconnectPolicy: quickRetries,
      ...(speaker && { audioOutput: { deviceId: speaker } }),
    });
    this.#sender = new Sender(this.room, studio);
    this.#speakers = new Speakers(this.room);
    this.#thrift = new Thrift(this.room);
    this.inbox = new Inbox(this.room);
    this.room
      .on(RoomEvent.SignalConnected, this.#sender.follow)
      .on(RoomEvent.ParticipantPermissionsChanged, this.#sender.follow)
      .on(RoomEvent.SignalReconnecting, this.#mend)
      .on(RoomEvent.Reconnected, this.#mended)
      // LiveKit would now build everything anew with its old pass, and wait
      // seconds to be sure; a new seat is quicker and works after a restart.
      .on(RoomEvent.Reconnecting, () => (navigator.onLine ? this.#giveUp() : this.#mend()))
      .on(RoomEvent.DataReceived, (payload, sender, _kind, topic, _encryption, identity) => {
        const message = readMessage(topic, payload, sender?.identity || identity);
        if (message?.kind === 'move') this.#watch.dropped('moved');
        else if (message?.kind === 'reaction') this.reactions.show(message.identity, message.reaction);
        else if (message?.kind === 'broadcast') this.#watch.told(message);
      })
      .on(RoomEvent.VideoPlaybackStatusChanged, (playing) => {
        for (const press of presses) {
          if (playing) document.removeEventListener(press, this.#play);
          else document.addEventListener(press, this.#play);
        }
      })
      .on(RoomEvent.Disconnected, this.#end);
  }

  /** Nobody and nothing has ended it so far. */
  get live(): boolean {
    return !this.#over;
  }

  /** False when the connection for sound and pictures could not be made. */
  async connect(seat: Seat): Promise<boolean> {
    try {
      await this.room.connect(location.origin.replace(/^http/, 'ws'), seat.media_token, {
        // The page's own retries begin with a seat, so these need none.
        maxRetries: 0,
        websocketTimeout: connectPatience,
        peerConnectionTimeout: connectPatience,
      });
      if (this.#over) return false;
      // Not before they are drawn: others would be heard and seen later for it.
      requestAnimationFrame(() => setTimeout(this.#send));
      // A page that nobody sees draws nothing.
      setTimeout(this.#send, drawingPatience);
      return true;
    } catch {
      this.leave();
      return false;
    }
  }

  readonly #send = (): void => {
    if (!this.#over) this.#sender.start();
  };

  /** Ends it without a word to the visit. */
  leave(): void {
    if (this.#over) return;
    this.#close();
    void this.room.disconnect(false);
  }

  /** A phone that saves its battery plays no picture before something is pressed, whatever it is. */
  readonly #play = (): void => void this.room.startVideo();

  readonly #mend = (): void => {
    this.#watch.shaky(true);
    clearTimeout(this.#mending);
    this.#mending = setTimeout(this.#giveUp, mendPatience);
  };

  readonly #mended = (): void => {
    clearTimeout(this.#mending);
    this.#watch.shaky(false);
  };

  readonly #giveUp = (): void => {
    if (this.#over) return;
    this.leave();
    this.#watch.dropped('lost');
  };

  readonly #end = (reason?: DisconnectReason): void => {
    if (this.#over) return;
    this.#close();
    // A phone that freezes the tab makes LiveKit say goodbye by itself: that is lost too.
    this.#watch.dropped(lossOf(reason));
  };

  #close(): void {
    this.#over = true;
    for (const press of presses) document.removeEventListener(press, this.#play);
    clearTimeout(this.#mending);
    this.#sender.stop();
    this.#speakers.stop();
    this.#thrift.stop();
  }
}
