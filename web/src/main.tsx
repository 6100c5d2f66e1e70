import { createRoot } from 'react-dom/client';
import { JoinApi } from './api/client';
import { App } from './App';
import { browserMemory, tabMemory } from './lib/memory';
import { Studio } from './media/studio';
import { addRoom, begin } from './messages/language';
import { readPreset, readRoute } from './route';
import { NotALink } from './screens/NotALink';
import { browserHold } from './seat/hold';
import { SeatKeeper } from './seat/keeper';
import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/lobby.css';
import { Safety } from './ui/Safety';
import { wayOutText } from './ui/wayOut';
import { Acts } from './visit/acts';
import { Runner } from './visit/runner';
import type { RoomModule } from './room';

const container = document.getElementById('page');
if (!container) throw new Error('index.html has no #page');
const root = createRoot(container);
const route = readRoute(location);
const preset = readPreset(location);
const words = begin(preset.lang);

// Another link pasted over this one changes only the fragment: that is another visit.
window.addEventListener('hashchange', () => location.reload());

if (route) {
  let loading: Promise<RoomModule> | null = null;
  const loadRoom = (): Promise<RoomModule> => {
    loading ??= Promise.all([import('./room'), words.then(addRoom)]).then(
      ([room]) => {
        wayOutText.set(room.WayOutText);
        return room;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
  const studio = new Studio();
  const api = new JoinApi(route.roomId);
  const keeper = new SeatKeeper(route, { browser: browserMemory, tab: tabMemory, hold: browserHold() });
  const { key: seatKey, rival } = keeper;
  const runner = new Runner({ route, api, seatKey, rival, studio, loadRoom });
  runner.store.watch(() => void keeper.follow(runner.store.get().visit));
  const acts = new Acts(api, seatKey, () => runner.dispatch({ type: 'dropped', loss: 'moved' }));
  // Only whoever is shown in a frame has somebody around to tell.
  if (parent !== window) void import('./embed').then(({ tellAround }) => tellAround(runner.store, route.roomId));
  // Before the first word: the question travels beside the messages.
  runner.start();
  void words.then(() =>
    root.render(
      <Safety>
        <App route={route} preset={preset} api={api} runner={runner} keeper={keeper} acts={acts} studio={studio} loadRoom={loadRoom} />
      </Safety>,
    ),
  );
} else {
  void words.then(() => root.render(<NotALink />));
}
