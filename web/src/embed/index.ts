import { isCameraActive, isMicActive } from '../media/mediaState';
import type { Store } from '../state/store';
import { opening } from '../visit/state';
import { type Commanded, execute } from './command';
import { embedEventOf } from './event';
import { parentOrigin } from './origin';
import type { CommandMessage, FrameMessage, News, Reply } from './protocol';

interface EmbeddedRoom extends Commanded {
  roomId: string;
  /** How many people the page shows in the room; 0 while it shows no room. */
  peopleCount: Store<number>;
}

/**
 * Sends what happens in the visit to the page that embeds this one, and executes its commands. Both
 * only if the browser reveals the origin of that page.
 */
export function connectToParent(room: EmbeddedRoom): void {
  const origin = parentOrigin(location, document.referrer);
  if (origin === null) return;
  const send = (message: FrameMessage): void => parent.postMessage(message, origin);
  sendNews(room, (news) => send({ source: 'parley', room_id: room.roomId, ...news }));
  addEventListener('message', (message: MessageEvent<Partial<CommandMessage> | null>) => {
    if (message.source !== parent || message.origin !== origin) return;
    const { source, id, command } = message.data ?? {};
    if (source !== 'parley-host' || typeof id !== 'number' || typeof command !== 'string') return;
    void execute(command, room).then((error) => {
      const reply: Reply = error === null ? { type: 'reply', id, ok: true } : { type: 'reply', id, ok: false, error };
      send({ source: 'parley', ...reply });
    });
  });
}

/** Sends events once, and the number of people and what is muted after joining and whenever they change. */
function sendNews({ runner, localMedia, peopleCount }: EmbeddedRoom, send: (news: News) => void): void {
  let before = opening;
  let unloaded = false;
  let last: { microphone?: boolean; camera?: boolean; count?: number } = {};
  const notify = (): void => {
    if (unloaded) return;
    const { visit } = runner.store.get();
    const event = embedEventOf(before, visit);
    before = visit;
    if (event) send(event);
    if (visit.at !== 'room') {
      last = {};
      return;
    }
    const mediaState = localMedia.state.get();
    const [microphone, camera] = [!isMicActive(mediaState), !isCameraActive(mediaState)];
    const count = peopleCount.get() || last.count;
    if (microphone !== last.microphone || camera !== last.camera) send({ type: 'mute', microphone, camera });
    if (count !== last.count && count) send({ type: 'people', count });
    last = { microphone, camera, ...(count && { count }) };
  };
  for (const store of [runner.store, localMedia.state, peopleCount]) store.subscribe(notify);
  // The page around this one may stay when this one is loaded again.
  addEventListener('pagehide', () => {
    unloaded = true;
    if (before.at !== 'room') return;
    send({ type: 'left', reason: 'unloaded' });
    before = opening;
    last = {};
  });
  // The browser may bring this page back as it was.
  addEventListener('pageshow', () => {
    unloaded = false;
    notify();
  });
  notify();
}
