import { createRoot } from 'react-dom/client';
import { JoinApi } from './api/client';
import { App } from './App';
import { browserMemory, tabMemory } from './lib/memory';
import { Studio } from './media/studio';
import { addRoom, begin } from './messages/language';
import { readPreset, readRoute } from './route';
import { NotALink } from './screens/NotALink';
import { browserHold } from './seat/hold';
import { seatKeyFor } from './seat/keeper';
import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/lobby.css';
import { Safety } from './ui/Safety';
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
      ([room]) => room,
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
  const studio = new Studio();
  const api = new JoinApi(route.roomId);
  const seatKey = seatKeyFor(route, { browser: browserMemory, tab: tabMemory, hold: browserHold() });
  const runner = new Runner({ route, api, seatKey, studio, loadRoom });
  const acts = new Acts(api, seatKey, () => runner.dispatch({ type: 'dropped', loss: 'moved' }));
  // Before the first word: the question travels beside the messages.
  runner.start();
  void words.then(() =>
    root.render(
      <Safety>
        <App route={route} preset={preset} runner={runner} acts={acts} studio={studio} loadRoom={loadRoom} />
      </Safety>,
    ),
  );
} else {
  void words.then(() => root.render(<NotALink />));
}
