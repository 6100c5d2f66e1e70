import { useEffect, useState } from 'react';
import type { Found, Option } from '../ui/Finder';
import type { Schemas } from './client';
import { nameOf } from './projectNames';
import { type Resource, useGet } from './useGet';

/** The number of matches that a search offers. */
const limit = 8;

type Page = { next_cursor?: string };

/**
 * Reads a search. The server reads a limited number of names for each page, so a page without a match is followed by the next one
 * until one has a match.
 */
function useSearch<D extends Page>(search: string, read: (cursor: string | undefined) => Resource<D>, isEmpty: (page: D) => boolean) {
  const [at, setAt] = useState<{ search: string; cursor: string } | null>(null);
  const { data, error, loading } = read(at?.search === search ? at.cursor : undefined);
  const page = loading || error ? null : data;
  const next = page && isEmpty(page) ? page.next_cursor : undefined;
  useEffect(() => {
    if (next !== undefined) setAt({ search, cursor: next });
  }, [search, next]);
  return { page: next === undefined ? page : null, error };
}

/** The query of a search; null for an empty text, which searches nothing. */
const queryOf = (search: string, cursor: string | undefined) => (search ? { query: { search, limit, ...(cursor && { cursor }) } } : null);

/** Finds projects by a part of their name, or by their ID. */
export function useFoundProjects(search: string): Found {
  const { page, error } = useSearch(
    search,
    (cursor) => useGet('/projects', queryOf(search, cursor), false),
    ({ projects }) => projects.length === 0,
  );
  return {
    options: page?.projects.map((project) => ({ id: project.project_id, text: nameOf(project) })) ?? null,
    more: page?.next_cursor !== undefined,
    error,
  };
}

/** Finds organizations by a part of their name, or by their ID. */
export function useFoundOrganizations(search: string): Found<OrganizationOption> {
  const { page, error } = useSearch(
    search,
    (cursor) => useGet('/organizations', queryOf(search, cursor), false),
    ({ organizations }) => organizations.length === 0,
  );
  return {
    options: page?.organizations.map(optionOf) ?? null,
    more: page?.next_cursor !== undefined,
    error,
  };
}

/** Finds organizations as useFoundOrganizations does, but suspended ones cannot be chosen. */
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
