import { Store } from '../../src/state/store';
import { session } from '../state/session';
import { ApiError, call, type Schemas } from './client';

/** The largest page of projects. If there are more, a person finds them by a search. */
export const pageSize = 100;

/** The name of a project, which says whether it is a test project. */
export const nameOf = ({ name, test }: Pick<Schemas['Project'], 'name' | 'test'>): string => (test ? `${name} (test)` : name);

/** The names of projects that are not on the first page, by their ID. For a project that does not exist it has the ID itself. */
export const otherNames = new Store<ReadonlyMap<string, string>>(new Map());

/** The maximum age of a name that is shown. Then it is read again, because somebody may have renamed the project. */
const maxAgeMs = 60_000;

/** How often the page looks for names that are too old, and how long it waits after a failure. */
const checkMs = 10_000;

/** A request for the name of a project. */
interface NameRequest {
  /** When the name is too old, by the clock of performance.now. */
  until: number;
}

/** The last request for each project. */
const lastRequests = new Map<string, NameRequest>();
/** The projects whose names are read next. */
const nextIDs = new Set<string>();
/** The projects whose names the components of the page show. */
const shown = new Set<ReadonlySet<string>>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Reads the names that are missing or too old, in one call with all others that the page asks for at the same time. */
function requestNames(ids: Iterable<string>): void {
  const now = performance.now();
  for (const id of ids) {
    if (now < (lastRequests.get(id)?.until ?? 0)) continue;
    lastRequests.set(id, { until: now + maxAgeMs });
    if (nextIDs.add(id).size === 1) queueMicrotask(() => void readNames());
  }
}

async function readNames(): Promise<void> {
  const all = [...nextIDs];
  nextIDs.clear();
  for (let i = 0; i < all.length; i += pageSize) await readPage(all.slice(i, i + pageSize));
}

async function readPage(ids: string[]): Promise<void> {
  const requests = new Map(ids.map((id) => [id, lastRequests.get(id)]));
  const found = new Map<string, string>();
  try {
    const { projects } = await call('get', '/projects', { query: { project_ids: ids.join(',') } });
    for (const project of projects) found.set(project.project_id, nameOf(project));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    for (const request of requests.values()) if (request) request.until = performance.now() + checkMs;
    for (const [id, name] of otherNames.get()) found.set(id, name);
  }
  // Not names that were forgotten meanwhile: the project was renamed, or another person has signed in.
  const current = ids.filter((id) => requests.get(id) !== undefined && requests.get(id) === lastRequests.get(id));
  otherNames.set(new Map([...otherNames.get(), ...current.map((id) => [id, found.get(id) ?? id] as const)]));
}

/** Keeps the names of projects up to date until the returned function is called. More IDs may be added by showName. */
export function showNames(ids: ReadonlySet<string>): () => void {
  shown.add(ids);
  requestNames(ids);
  timer ??= setInterval(() => {
    for (const each of shown) requestNames(each);
  }, checkMs);
  return () => {
    shown.delete(ids);
    if (shown.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Adds a project to those of showNames. */
export function showName(ids: Set<string>, id: string): void {
  if (ids.has(id)) return;
  ids.add(id);
  if (shown.has(ids)) requestNames([id]);
}

/** Forgets the names of projects. Components that show them render again, and so ask for them. */
export function forgetNames(ids: string[]): void {
  for (const id of ids) {
    lastRequests.delete(id);
    nextIDs.delete(id);
  }
  otherNames.set(new Map([...otherNames.get()].filter(([id]) => !ids.includes(id))));
}

// Another person may not see the same projects.
session.subscribe(() => {
  if (session.get().is === 'out') forgetNames([...lastRequests.keys()]);
});
