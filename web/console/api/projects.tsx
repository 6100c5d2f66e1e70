import { createContext, useContext, useEffect } from 'react';
import { Store } from '../../src/state/store';
import { useStore } from '../../src/state/useStore';
import { session } from '../state/session';
import { ApiError, call, type Schemas } from './client';
import { type Resource, useGet } from './useGet';

type Project = Schemas['Project'];

/** The largest page of projects. If there are more, a person finds them by a search. */
export const pageSize = 100;

/** The first page of the projects that the caller may see, the oldest first; null until it is loaded. */
export const Projects = createContext<Schemas['ProjectList'] | null>(null);

/** The oldest projects that the caller may see, at most pageSize, and none until they are loaded. */
export const useProjects = (): Project[] => useContext(Projects)?.projects ?? [];

/** Whether there are more projects than useProjects returns. */
export const useHasMoreProjects = (): boolean => useContext(Projects)?.next_cursor !== undefined;

/** Reads the first page of the projects, and follows it. */
export const useFirstProjects = (): Resource<Schemas['ProjectList']> => useGet('/projects', { query: { limit: pageSize } });

/** The name of a project, which says whether it is a test project. */
export const nameOf = ({ name, test }: Pick<Project, 'name' | 'test'>): string => (test ? `${name} (test)` : name);

/** The names of projects that are not on the first page, by their ID. A project that does not exist has its ID. */
const otherNames = new Store<ReadonlyMap<string, string>>(new Map());
/** When the names of projects were last requested, by the clock of performance.now. */
const requested = new Map<string, number>();
/** The projects whose names are read next. */
let wanted: string[] = [];

/** How old a name may be that is shown again, because somebody else may rename a project. */
const maxAgeMs = 60_000;

/** How long the page waits before it tries again to read names. */
const retryMs = 10_000;

/** Reads the name of a project, in one call with all others that the page asks for at the same time. */
function wantName(id: string): void {
  const now = performance.now();
  if (now - (requested.get(id) ?? Number.NEGATIVE_INFINITY) < maxAgeMs) return;
  requested.set(id, now);
  if (wanted.push(id) === 1) queueMicrotask(() => void readNames());
}

async function readNames(): Promise<void> {
  const all = wanted;
  wanted = [];
  for (let i = 0; i < all.length; i += pageSize) {
    const ids = all.slice(i, i + pageSize);
    const found = new Map(ids.map((id) => [id, id]));
    try {
      const { projects } = await call('get', '/projects', { query: { project_ids: ids.join(',') } });
      for (const project of projects) found.set(project.project_id, nameOf(project));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setTimeout(() => {
        for (const id of ids) requested.delete(id);
        otherNames.set(new Map(otherNames.get())); // the pages that show them ask again
      }, retryMs);
      for (const id of ids) found.set(id, otherNames.get().get(id) ?? id);
    }
    otherNames.set(new Map([...otherNames.get(), ...found]));
  }
}

/** Forgets the names of projects, so that they are read again. */
export function forgetNames(ids: string[]): void {
  for (const id of ids) requested.delete(id);
  otherNames.set(new Map([...otherNames.get()].filter(([id]) => !ids.includes(id))));
}

// Another person may not see the same projects.
session.subscribe(() => {
  if (session.get().is === 'out') forgetNames([...requested.keys()]);
});

/** Returns the name of a project as nameOf does; its ID if it is not known, and nothing until the name is loaded. */
export function useProjectName(): (id: string) => string {
  const first = useContext(Projects);
  const others = useStore(otherNames);
  const used: string[] = [];
  useEffect(() => used.forEach(wantName));
  return (id) => {
    const project = first?.projects.find(({ project_id }) => project_id === id);
    if (project) return nameOf(project);
    if (!first) return others.get(id) ?? '';
    if (first.next_cursor === undefined) return others.get(id) ?? id;
    used.push(id);
    return others.get(id) ?? '';
  };
}
