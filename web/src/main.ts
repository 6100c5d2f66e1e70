import { JoinApi } from './api/client';
import { LocalMedia } from './media/localMedia';
import { loadInitialLanguage, loadRemainingMessages } from './messages/language';
import type { RoomModule } from './room';
import { readCheck, readPreset, readRoute } from './route';
import { SeatKeyStore } from './seat/seatKeyStore';
import { browserTabLock } from './seat/tabLock';
import { Lazy } from './state/lazy';
import { browserStorage, tabStorage } from './state/storage';
import { Store } from './state/store';
import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/lobby.css';
import { permissionHelp } from './ui/permissionHelp';
import { RatingSender } from './visit/ratingSender';
import type { RoomActions } from './visit/roomActions';
import { Runner } from './visit/runner';
import { Stay } from './visit/stay';

// The view, the messages and the preview are requested in parallel.
const view = import('./view');
const route = readRoute(location);
const check = readCheck(location);
const preset = readPreset(location);
const messages = loadInitialLanguage(preset.lang);

/** The preview usually arrives within this time, and then the page is drawn only once. */
const maxPreviewWaitMs = 300;

// A new link that is pasted over this one changes only the fragment, but is another visit.
window.addEventListener('hashchange', () => location.reload());

/** A part that is not needed for the first view, together with its messages. */
const lazyWithMessages = <T>(load: () => Promise<T>): Lazy<T> =>
  new Lazy(() => Promise.all([load(), messages.then(loadRemainingMessages)]).then(([part]) => part));
const lazyScreens = lazyWithMessages(() => import('./screens/lazyScreens'));

const room = lazyWithMessages(() => import('./room'));

if (route) {
  room.loaded.subscribe(() => permissionHelp.set(room.loaded.get()?.PermissionHelp ?? null));
  const localMedia = new LocalMedia();
  const api = new JoinApi(route.roomId);
  const seatKeyStore = new SeatKeyStore(route, { browser: browserStorage, tab: tabStorage, lockTab: browserTabLock() });
  const { key: seatKey, expected: expectedKey, duplicateTab } = seatKeyStore;
  const stay = new Stay(tabStorage, route.roomId);
  const runner = new Runner({ route, api, seatKey, expectedKey, duplicateTab, joinedAt: stay.joinedAt(), localMedia, room });
  runner.store.subscribe(() => {
    const { visit } = runner.store.get();
    void seatKeyStore.onVisit(visit);
    stay.onVisit(visit);
  });
  const rating = new RatingSender(api, seatKey, tabStorage, route.roomId);
  let actions: RoomActions | null = null;
  const createActions = ({ RoomActions }: RoomModule): RoomActions =>
    (actions ??= new RoomActions(api, seatKey, {
      moved: () => runner.dispatch({ type: 'disconnected', cause: 'moved' }),
      ended: () => runner.dispatch({ type: 'ended' }),
    }));
  const peopleCount = new Store(0);
  // Only an embedded page has a parent.
  if (parent !== window) {
    void import('./embed').then(({ connectToParent }) => connectToParent({ runner, localMedia, peopleCount, roomId: route.roomId }));
  }
  const previewReady = new Promise<void>((resolve) => {
    setTimeout(resolve, maxPreviewWaitMs);
    const unsubscribe = runner.store.subscribe(() => {
      const { visit } = runner.store.get();
      if (visit.at === 'opening' && visit.attempt === 0) return;
      unsubscribe();
      resolve();
    });
  });
  runner.start();
  preloadRoom();
  void Promise.all([view, messages, previewReady]).then(([{ renderRoomPage }]) =>
    renderRoomPage({ route, preset, runner, seatKeyStore, createActions, localMedia, peopleCount, rating, room, lazyScreens }),
  );
} else if (check !== null) {
  const page = new Lazy(() => import('./check'));
  void Promise.all([view, messages]).then(([{ renderCheckPage }]) => renderCheckPage({ code: check, room, page }));
} else {
  void Promise.all([view, messages]).then(([{ renderNotALinkPage }]) => renderNotALinkPage({ lazyScreens }));
}

/**
 * Lets the browser fetch the room after the files of the first view, because compiling the
 * room takes longer than all of them. The room only runs on demand.
 */
function preloadRoom(): void {
  // build/preloadLinks.ts writes the list.
  const files = document.querySelector<HTMLMetaElement>('meta[name=room]')?.content.split(' ') ?? [];
  for (const href of files) {
    const link = document.createElement('link');
    Object.assign(link, href.endsWith('.css') ? { rel: 'preload', as: 'style', crossOrigin: '', href } : { rel: 'modulepreload', href });
    document.head.append(link);
  }
}
