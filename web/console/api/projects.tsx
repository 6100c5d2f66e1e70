import { createContext, useContext, useEffect } from 'react';
import { Store } from '../../src/state/store';
import { useStore } from '../../src/state/useStore';
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
const requested = new Set<string>();

/** Reads the names of projects, in one call for all that a page shows. */
async function readNames(ids: string[]): Promise<void> {
  const wanted = [...new Set(ids)].filter((id) => !requested.has(id)).slice(0, pageSize);
  if (wanted.length === 0) return;
  for (const id of wanted) requested.add(id);
  const found = new Map(wanted.map((id) => [id, id]));
  try {
    const { projects } = await call('get', '/projects', { query: { project_ids: wanted.join(',') } });
    for (const project of projects) found.set(project.project_id, nameOf(project));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error; // the page shows the IDs instead
  }
  otherNames.set(new Map([...otherNames.get(), ...found]));
}

/** Forgets the name of a project, because it has changed. */
export function forgetName(id: string): void {
  requested.delete(id);
  otherNames.set(new Map([...otherNames.get()].filter(([other]) => other !== id)));
}

/** Returns the name of a project as nameOf does; its ID if it is not known, and nothing until the name is loaded. */
export function useProjectName(): (id: string) => string {
  const first = useContext(Projects);
  const others = useStore(otherNames);
  const missing: string[] = [];
  useEffect(() => void readNames(missing));
  return (id) => {
    const project = first?.projects.find(({ project_id }) => project_id === id);
    if (project) return nameOf(project);
    const other = others.get(id);
    if (other !== undefined || !first) return other ?? '';
    if (first.next_cursor === undefined) return id;
    missing.push(id);
    return '';
  };
}
