import { Store } from '../../src/state/store';
import { ApiError, call, type Schemas } from '../api/client';

export type Role = Schemas['TokenRole'];

/** The signed-in user, token or link, with its rights. */
export type Caller = Schemas['Caller'];

export type Session =
  | { is: 'unknown' }
  | { is: 'out'; expired: boolean }
  | { is: 'in'; caller: Caller }
  | { is: 'unreachable'; message: string };

export const session = new Store<Session>({ is: 'unknown' });

/** Ends the session in this page, because the server said so. */
export function signedOut(): void {
  const now = session.get();
  if (now.is !== 'out') session.set({ is: 'out', expired: now.is === 'in' });
}

/** Returns what the pages depend on: they are drawn anew when it changes. */
export const rightsOf = ({ session_id, id, role, project_ids }: Caller): string => JSON.stringify([session_id, id, role, project_ids]);

/** The tabs of this browser share a cookie, so a sign-in in one of them changes the session of all. */
let tabs: BroadcastChannel | undefined;

/** Sets who is signed in, as the server said it, and has the other tabs ask the server when that is another session. */
export function setCaller(caller: Caller): void {
  const now = session.get();
  const before = now.is === 'in' ? now.caller : null;
  if (JSON.stringify(before) === JSON.stringify(caller)) return;
  session.set({ is: 'in', caller });
  if (before?.session_id !== caller.session_id) tabs?.postMessage(null);
}

/** Follows sign-ins in other tabs. */
export function followTabs(): void {
  tabs = new BroadcastChannel('parley.console');
  tabs.addEventListener('message', () => void stillSignedIn());
}

/** Asks the server who is signed in. */
export async function loadCaller(): Promise<void> {
  try {
    setCaller(await call('get', '/caller', {}));
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) session.set({ is: 'unreachable', message: error.message });
  }
}

/** Why a sign-in failed. The code is that of the server, or empty. */
export type Failure = Pick<ApiError, 'code' | 'message'>;

/** Shown when the server accepted a sign-in and the browser did not keep the cookie. */
const cookieLost: Failure = {
  code: '',
  message:
    'The server accepted your sign-in, but your browser did not keep the cookie. Browsers keep it only over HTTPS or on localhost. ' +
    'Open the console with https://, or on the machine itself at http://localhost. If the address is right, allow cookies for this site.',
};

/**
 * Signs in with a management token or with the code of a one-time link. Returns why the server did not accept it, or that the browser did
 * not keep the cookie; null otherwise, also while the server does not say who is signed in, because the session then says so.
 */
export async function signIn(credential: { token: string } | { code: string }): Promise<Failure | null> {
  try {
    await call('post', '/sign-in', { body: credential });
  } catch (error) {
    return error as ApiError;
  }
  await loadCaller();
  return session.get().is === 'out' ? cookieLost : null;
}

/** Asks the server whether there is a session, and whose it is. An error other than a 401 leaves what is known as it is. */
export async function stillSignedIn(): Promise<boolean> {
  await call('get', '/caller', {}).then(setCaller, () => undefined);
  return session.get().is === 'in';
}

/** Signs out. Returns why the session goes on; null if it has ended. */
export async function signOut(): Promise<string | null> {
  try {
    await call('post', '/sign-out', {});
  } catch (error) {
    if (session.get().is !== 'out') return (error as Error).message;
  }
  session.set({ is: 'out', expired: false });
  return null;
}
