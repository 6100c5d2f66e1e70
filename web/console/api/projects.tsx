import { createContext, useContext, useEffect, useMemo } from 'react';
import type { ApiError, Schemas } from './client';
import { useGet } from './useGet';

/** The largest page of projects that the server returns. */
const pageSize = 100;

/** The projects that the caller may see, the oldest first; null until they are loaded. */
export const Projects = createContext<Schemas['Project'][] | null>(null);

/** The projects that the caller may see, none until they are loaded. */
export const useProjects = (): Schemas['Project'][] => useContext(Projects) ?? [];

interface AllProjects {
  /** The oldest first; null until they are loaded. */
  projects: Schemas['Project'][] | null;
  error: ApiError | null;
  reload: () => void;
}

/** Reads the projects that the caller may see. It follows those that are newer than the last one, because all can be too many for a stream. */
export function useAllProjects(): AllProjects {
  const all = useGet('/projects', { query: {} }, false);
  const last = all.data?.projects.at(-1)?.project_id;
  const following = useGet('/projects', all.data && { query: { limit: pageSize, ...(last && { cursor: last }) } });
  const newer = following.loading ? null : following.data; // while a page loads, useGet still has the page before it
  const { reload } = all;
  const isFull = newer?.next_cursor !== undefined;
  useEffect(() => {
    if (isFull) reload();
  }, [isFull, reload]);
  const projects = useMemo(() => all.data && [...all.data.projects, ...(newer?.projects ?? [])], [all.data, newer]);
  return { projects, error: all.error, reload };
}

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
