import { useSyncExternalStore } from 'react';

export const pages = [
  'overview',
  'rooms',
  'requests',
  'webhooks',
  'usage',
  'projects',
  'organizations',
  'signature',
  'audit',
  'nodes',
  'settings',
  'team',
  'sign-in',
] as const;
export type Page = (typeof pages)[number];

export interface Route {
  page: Page;
  /** The object that the page shows; null for a list. */
  id: string | null;
  query: Readonly<Record<string, string>>;
}

const prefix = '/console';

/** Reads the address; null if the console has no such page. */
export function readRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route | null {
  const [, page = 'overview', id = null, ...rest] = pathname.replace(/\/+$/, '').slice(prefix.length).split('/');
  if (!pages.includes(page as Page) || rest.length > 0) return null;
  try {
    return { page: page as Page, id: id === null ? null : decodeURIComponent(id), query: Object.fromEntries(new URLSearchParams(search)) };
  } catch {
    return null;
  }
}

type QueryInput = Readonly<Record<string, string | undefined>>;

/** Returns the address of a page. Parameters that are empty are left out. */
export function href(page: Page, id: string | null = null, query: QueryInput = {}): string {
  const path = page === 'overview' ? prefix : `${prefix}/${page}${id === null ? '' : `/${encodeURIComponent(id)}`}`;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  return path + (params.size > 0 ? `?${params}` : '');
}

/** The state of a page of a list in the browser's history: the cursors of the pages before it. */
interface HistoryState {
  cursors?: string[];
}

const listeners = new Set<() => void>();
const changed = (): void => {
  for (const listener of [...listeners]) listener();
};
/** Asks whether the page may be left. url and state are those of the guarded page, which is added to the history again after a refused Back. */
let guard: { ask: () => boolean; url: string; state: HistoryState | null } | null = null;

/** Guards the page until the returned function is called: ask returns whether the page may be left. */
export function guardLeaving(ask: () => boolean): () => void {
  const mine = { ask, url: location.href, state: history.state as HistoryState | null };
  guard = mine;
  return () => {
    if (guard === mine) guard = null;
  };
}

export function navigate(address: string, options: { replace?: boolean; state?: HistoryState } = {}): void {
  if (guard && !guard.ask()) return;
  history[options.replace ? 'replaceState' : 'pushState'](options.state ?? null, '', address);
  changed();
}

const withoutHash = (url: string): string => url.split('#')[0] ?? '';

/** Follows Back and Forward. The browser has already changed the address, so a page that may not be left is entered again. */
function follow(): void {
  if (guard && withoutHash(guard.url) !== withoutHash(location.href) && !guard.ask()) history.pushState(guard.state, '', guard.url);
  else changed();
}

const subscribe = (listener: () => void): (() => void) => {
  if (listeners.size === 0) window.addEventListener('popstate', follow);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('popstate', follow);
  };
};

/** Returns the path and the query of the page that is shown. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, () => location.pathname + location.search);
}

/** Changes parameters of the query of this page and returns to the first page of its list. */
export function setQuery(changes: QueryInput): void {
  const route = readRoute(location);
  if (!route) return;
  navigate(href(route.page, route.id, { ...route.query, cursor: undefined, ...changes }), { replace: true });
}

/** Opens the next page of a list. */
export function openNext(cursor: string): void {
  const route = readRoute(location);
  if (!route) return;
  const cursors = [...((history.state as HistoryState | null)?.cursors ?? []), route.query.cursor ?? ''];
  navigate(href(route.page, route.id, { ...route.query, cursor }), { state: { cursors } });
}

/**
 * Opens the next page of a list in place of this one, which is empty, so that the previous page stays the same. While the page is
 * guarded, it does nothing and does not ask, because nobody has asked to leave.
 */
export function skipPage(cursor: string): void {
  const route = readRoute(location);
  if (!route || guard) return;
  const cursors = (history.state as HistoryState | null)?.cursors ?? (route.query.cursor ? [''] : []);
  navigate(href(route.page, route.id, { ...route.query, cursor }), { replace: true, state: { cursors } });
}

/** Whether the page of a list at a cursor is the first one that was not skipped. */
export function isFirstPage(cursor: string | undefined): boolean {
  return cursor === undefined || (history.state as HistoryState | null)?.cursors?.length === 0;
}

/** Opens the previous page of a list, or the first one if the address was opened directly. */
export function openPrevious(): void {
  const route = readRoute(location);
  if (!route) return;
  const cursors = [...((history.state as HistoryState | null)?.cursors ?? [])];
  const cursor = cursors.pop();
  navigate(href(route.page, route.id, { ...route.query, cursor }), { state: { cursors } });
}
