import { createContext, useContext } from 'react';
import type { Schemas } from './client';

/** The projects that the caller may see, the oldest first; null until they are loaded. */
export const Projects = createContext<Schemas['Project'][] | null>(null);

/** The projects that the caller may see, none until they are loaded. */
export const useProjects = (): Schemas['Project'][] => useContext(Projects) ?? [];

/** Returns the name of a project; its ID if it is not known, and nothing until the names are loaded. */
export function useProjectName(): (id: string) => string {
  const projects = useContext(Projects);
  return (id) => (projects ? (projects.find(({ project_id }) => project_id === id)?.name ?? id) : '');
}
