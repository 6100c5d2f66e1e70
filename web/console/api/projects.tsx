import { createContext, useContext, useEffect } from 'react';
import { useStore } from '../../src/state/useStore';
import type { Schemas } from './client';
import { nameOf, otherNames, pageSize, showName, showNames } from './projectNames';
import { type Resource, useGet } from './useGet';

type Project = Schemas['Project'];

/** The first page of the projects that the caller may see, the oldest first; null until it is loaded. */
export const Projects = createContext<Schemas['ProjectList'] | null>(null);

/** The oldest projects that the caller may see, at most pageSize, and none until they are loaded. */
export const useProjects = (): Project[] => useContext(Projects)?.projects ?? [];

/** Whether there are more projects than useProjects returns. */
export const useHasMoreProjects = (): boolean => useContext(Projects)?.next_cursor !== undefined;

/** Reads the first page of the projects, and follows it. */
export const useFirstProjects = (): Resource<Schemas['ProjectList']> => useGet('/projects', { query: { limit: pageSize } });

/** Returns the name of a project as nameOf does; its ID if it is not known, and nothing until the name is loaded. */
export function useProjectName(): (id: string) => string {
  const first = useContext(Projects);
  const others = useStore(otherNames);
  // The names that this rendering shows, and those of parts that render again alone.
  const used = new Set<string>();
  useEffect(() => showNames(used));
  return (id) => {
    const project = first?.projects.find(({ project_id }) => project_id === id);
    if (project) return nameOf(project);
    if (!first) return others.get(id) ?? '';
    if (first.next_cursor === undefined) return others.get(id) ?? id;
    showName(used, id);
    return others.get(id) ?? '';
  };
}
