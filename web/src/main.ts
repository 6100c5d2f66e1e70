import { JoinApi } from './api/client';
import { Lazy } from './lib/lazy';
import { browserMemory, tabMemory } from './lib/memory';
import { Studio } from './media/studio';
import { addRest, begin } from './messages/language';
import type { RoomModule } from './room';
import { readPreset, readRoute } from './route';
import { browserHold } from './seat/hold';
import { SeatKeeper } from './seat/keeper';
import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/lobby.css';
import { wayOutText } from './ui/wayOut';
import type { Acts } from './visit/acts';
import { Runner } from './visit/runner';

// What is asked for here travels side by side: what draws the page, its words,
// and what the server says of the room.
const view = import('./view');
const route = readRoute(location);
const preset = readPreset(location);
const words = begin(preset.lang);

/** Milliseconds that nobody is told to wait for: what the server says comes sooner, and is drawn once. */
const unnoticed = 300;

// Another link pasted over this one changes only the fragment: that is another visit.
window.addEventListener('hashchange', () => location.reload());

/** What the first view does without, with its words. */
const withWords = <T>(load: () => Promise<T>): Lazy<T> =>
  new Lazy(() => Promise.all([load(), words.then(addRest)]).then(([part]) => part));
const later = withWords(() => import('./screens/later'));

if (route) {
  const room = withWords(() => import('./room'));
  room.loaded.watch(() => wayOutText.set(room.loaded.get()?.WayOutText ?? null));
  const studio = new Studio();
  const api = new JoinApi(route.roomId);
  const keeper = new SeatKeeper(route, { browser: browserMemory, tab: tabMemory, hold: browserHold() });
  const { key: seatKey, likely: likelyKey, rival } = keeper;
  const runner = new Runner({ route, api, seatKey, likelyKey, rival, studio, room });
  runner.store.watch(() => void keeper.follow(runner.store.get().visit));
  let acts: Acts | null = null;
  const actsIn = ({ Acts }: RoomModule): Acts =>
    (acts ??= new Acts(api, seatKey, () => runner.dispatch({ type: 'dropped', loss: 'moved' })));
  // Only whoever is shown in a frame has somebody around to tell.
  if (parent !== window) void import('./embed').then(({ tellAround }) => tellAround(runner.store, route.roomId));
  const known = new Promise<void>((go) => {
    setTimeout(go, unnoticed);
    const unwatch = runner.store.watch(() => {
      const { visit } = runner.store.get();
      if (visit.at === 'opening' && visit.attempt === 0) return;
      unwatch();
      go();
    });
  });
  runner.start();
  fetchRoomAhead();
  void Promise.all([view, words, known]).then(([{ show }]) => show({ route, preset, api, runner, keeper, actsIn, studio, room, later }));
} else {
  void Promise.all([view, words]).then(([{ showNoRoom }]) => showNoRoom({ later }));
}

/**
 * Has the browser fetch the room after what the first view needs: to compile it
 * takes longer than all of that. It runs only when somebody asks for it.
 */
function fetchRoomAhead(): void {
  // build/ahead.ts says what it consists of.
  const files = document.querySelector<HTMLMetaElement>('meta[name=room]')?.content.split(' ') ?? [];
  for (const href of files) {
    const link = document.createElement('link');
    Object.assign(link, href.endsWith('.css') ? { rel: 'preload', as: 'style', href } : { rel: 'modulepreload', href });
    document.head.append(link);
  }
}
