import { type ReactElement, useState } from 'react';
import type { Schemas } from '../api/client';
import { optionOf, useFoundActiveOrganizations, useFoundOrganizations } from '../api/found';
import { type Resource, useGet } from '../api/useGet';
import { Finder, type Option } from '../ui/Finder';

/** The largest page of organizations. If there are more, a person finds them by a search. */
const pageSize = 100;

/** Reads the first page of the organizations, unless the caller has no use for them. */
export function useFirstOrganizations(wanted: boolean): Resource<Schemas['OrganizationList']> {
  return useGet('/organizations', wanted ? { query: { limit: pageSize } } : null, false);
}

interface Props {
  label: string;
  /** The result of useFirstOrganizations. */
  first: Schemas['OrganizationList'];
  /** The ID of the chosen organization. */
  value: string | undefined;
  onPick: (organizationID: string) => void;
  /** Whether a suspended organization cannot be chosen. */
  activeOnly?: boolean;
}

/** Chooses an organization: from a list of all, or by a search if there are too many. */
export function OrganizationChoice({ label, first, value, onPick, activeOnly = false }: Props): ReactElement {
  const [picked, setPicked] = useState<Option | null>(null);
  const options = first.organizations.map(optionOf);
  const known = [...options, ...(picked ? [picked] : [])].find(({ id }) => id === value);
  const other = useGet('/organizations/{organization_id}', value && !known ? { path: { organization_id: value } } : null, false);
  const chosen = known?.text ?? other.data?.name ?? value;
  if (!first.next_cursor) {
    return (
      <label className="field">
        <span>{label}</span>
        <select value={value ?? ''} onChange={(event) => onPick(event.currentTarget.value)}>
          {options.map(({ id, text, suspended }) => (
            <option key={id} value={id} disabled={activeOnly && suspended}>
              {text}
            </option>
          ))}
          {value && !known && <option value={value}>{chosen}</option>}
        </select>
      </label>
    );
  }
  return (
    <div className="stack">
      <p>
        {label}: <strong>{chosen ?? 'none chosen'}</strong>
      </p>
      <Finder
        label="Find an organization"
        what="organization"
        useFound={activeOnly ? useFoundActiveOrganizations : useFoundOrganizations}
        onPick={(option) => {
          setPicked(option);
          onPick(option.id);
        }}
      />
    </div>
  );
}
