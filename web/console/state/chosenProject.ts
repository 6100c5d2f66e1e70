import { useProjects } from '../api/projects';
import { useCaller } from './context';

/** Returns the project that a list is about; undefined for all. An integrator has to choose one. */
export function useChosenProject(chosen: string | undefined): string | undefined {
  const { role } = useCaller();
  const projects = useProjects();
  return chosen ?? (role === 'integrator' ? projects[0]?.project_id : undefined);
}

/** Returns whether lists can be read: an integrator's need a project, which is not known at once. */
export const useListable = (project: string | undefined): boolean => useCaller().role !== 'integrator' || project !== undefined;
