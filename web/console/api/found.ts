import type { Found, Option } from '../ui/Finder';
import type { Schemas } from './client';
import { nameOf } from './projects';
import { useGet } from './useGet';

/** The number of matches that a search offers. */
const limit = 8;

/** Finds projects by a part of their name, or by their ID. */
export function useFoundProjects(search: string): Found {
  const { data, error, loading } = useGet('/projects', search ? { query: { search, limit } } : null, false);
  return {
    options: data && !loading ? data.projects.map((project) => ({ id: project.project_id, text: nameOf(project) })) : null,
    more: data?.next_cursor !== undefined,
    error,
  };
}

/** Finds organizations by a part of their name, or by their ID. */
export function useFoundOrganizations(search: string): Found<OrganizationOption> {
  const { data, error, loading } = useGet('/organizations', search ? { query: { search, limit } } : null, false);
  return {
    options: data && !loading ? data.organizations.map(optionOf) : null,
    more: data?.next_cursor !== undefined,
    error,
  };
}

/** useFoundOrganizations for something that a suspended organization cannot have. */
export function useFoundActiveOrganizations(search: string): Found {
  const { options, ...others } = useFoundOrganizations(search);
  return { ...others, options: options?.map((option) => ({ ...option, disabled: option.suspended })) ?? null };
}

interface OrganizationOption extends Option {
  suspended: boolean;
}

/** The option for an organization. Its text says whether it is suspended. */
export const optionOf = ({ organization_id, name, suspended }: Schemas['Organization']): OrganizationOption => ({
  id: organization_id,
  text: suspended ? `${name} (suspended)` : name,
  suspended,
});
