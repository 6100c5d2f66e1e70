import '../src/styles/tokens.css';
import '../src/styles/base.css';
import './styles/console.css';
import './styles/table.css';
import './styles/room.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { setOnSignedOut } from './api/client';
import { signsIn } from './pages/SignIn';
import { followTabs, loadCaller, signedOut } from './state/session';

setOnSignedOut(signedOut);
followTabs();
const page = document.getElementById('page');
if (page) createRoot(page).render(<App />);
// A link is opened also when somebody is signed in, because it may be of another person.
if (signsIn()) signedOut();
else void loadCaller();
