import '../src/styles/tokens.css';
import '../src/styles/base.css';
import './styles/console.css';
import './styles/table.css';
import './styles/room.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { setOnSignedOut } from './api/client';
import { loadCaller, signedOut } from './state/session';

setOnSignedOut(signedOut);
const page = document.getElementById('page');
if (page) createRoot(page).render(<App />);
if (!location.pathname.startsWith('/console/sign-in')) void loadCaller();
else signedOut();
