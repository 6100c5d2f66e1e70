import { createContext, useContext } from 'react';
import type { Schemas } from './client';

/** The projects that the caller may see, the oldest first; null until they are loaded. */
export const Projects = createContext<Schemas['Project'][] | null>(null);

/** The projects that the caller may see, none until they are loaded. */
export const useProjects = (): Schemas['Project'][] => useContext(Projects) ?? [];

/** The name of a project, which says whether it is a test project. */
export const nameOf = ({ name, test }: Schemas['Project']): string => (test ? `${name} (test)` : name);

/** Whether a project is found by a part of its name, or by its ID. */
export const matches = ({ name, project_id }: Schemas['Project'], text: string): boolean =>
  name.toLowerCase().includes(text.toLowerCase()) || project_id === text.toLowerCase();

/** Returns the name of a project as nameOf does; its ID if it is not known, and nothing until the names are loaded. */
export function useProjectName(): (id: string) => string {
  const projects = useContext(Projects);
  return (id) => {
    const project = projects?.find(({ project_id }) => project_id === id);
    return project ? nameOf(project) : projects ? id : '';
  };
}
