import { tabStorage } from '../../src/state/storage';
import { href, navigate, readRoute } from '../router';

/** The page to which a sign-in with OpenID Connect returns, for this tab. */
const key = 'parley.console.return';

/** Whether the address is that of the sign-in itself. */
export const onSignInPage = (): boolean => location.pathname.replace(/\/$/, '') === href('sign-in');

/** Keeps the page while the person signs in with OpenID Connect, because the server then opens the overview. */
export function keepPage(): void {
  if (!onSignInPage()) tabStorage.set(key, location.pathname + location.search);
}

export const forgetPage = (): void => tabStorage.set(key, '');

/** Opens the kept page, once. */
export function returnToPage(): void {
  const kept = tabStorage.get(key);
  if (!kept) return;
  forgetPage();
  const at = new URL(kept, location.origin);
  const overview = href('overview');
  if (location.pathname === overview && at.origin === location.origin && at.pathname.startsWith(overview) && readRoute(at)) {
    navigate(at.pathname + at.search, { replace: true });
  }
}
