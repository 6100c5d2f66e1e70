import type { Schemas } from '../api/client';
import { quote } from './deliveries';

const causes: Record<string, string> = {
  unknown_key: 'Unknown API key',
  unknown_project: 'Unknown project',
  retired_key: 'Retired API key',
  stale_timestamp: 'Timestamp missing or wrong',
  bad_signature: 'Signature missing or wrong',
  missing_header: 'Missing header',
  rate_limited: 'Rate limit reached',
  too_many_attempts: 'Too many failed attempts',
  invalid_request: 'Invalid request',
  unauthorized: 'No valid credential',
};

/** The usual causes, each with its words. */
export const causeSuggestions = Object.entries(causes);

/** The APIs, each with its name. */
export const versions = [
  ['v3', 'Version 3'],
  ['v4', 'Version 4'],
  ['v5', 'Version 5'],
  ['manage', 'Management'],
] as const;

/** Returns the name of an API. */
export const versionText = (version: string): string => versions.find(([id]) => id === version)?.[1] ?? version;

/** Returns a cause in words. Codes are readable enough for those that are not in the list. */
export function causeText(cause: string): string {
  const text = causes[cause] ?? cause.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const slots: Record<Schemas['CallKeySlot'], string> = {
  '': 'None',
  current: 'Current key',
  overlap: 'Old key',
  retired: 'Retired key',
  secret: 'Project secret',
  overlap_secret: 'Old secret',
  token: 'Token',
  session: 'Console',
};

/** Returns the credential of a call in words. */
export const slotText = (slot: Schemas['CallKeySlot']): string => slots[slot] ?? slot;

/** The key that an API call names, and the credential that signed it if that is another one. */
export const callSlotText = ({ key_slot, signer_slot }: Pick<Schemas['Call'], 'key_slot' | 'signer_slot'>): string =>
  signer_slot ? `${slotText(key_slot)}, signed with: ${slotText(signer_slot)}` : slotText(key_slot);

/** How many API calls of a route were rejected for one cause. */
export interface CauseCount {
  cause: string;
  route: string;
  calls: number;
}

/** Counts the rejected ones of some API calls by their cause and route, the most first. */
export function countCauses(calls: Pick<Schemas['Call'], 'cause' | 'route'>[]): CauseCount[] {
  const counts = new Map<string, CauseCount>();
  for (const { cause, route } of calls) {
    if (!cause) continue;
    const key = `${cause} ${route}`;
    const count = counts.get(key);
    if (count) count.calls++;
    else counts.set(key, { cause, route, calls: 1 });
  }
  return [...counts.values()].sort((a, b) => b.calls - a.calls);
}

/** Whether the filters of the list leave rejected API calls only. */
export const onlyRejected = ({ status = '', cause }: Readonly<Record<string, string>>): boolean =>
  Boolean(cause) || status === 'rejected' || /^[45]/.test(status);

/** The filters of a list of API calls, as the API reads them. */
export type CallFilters = Readonly<
  Partial<Record<'project_id' | 'status' | 'cause' | 'version' | 'key_slot' | 'route' | 'request_id' | 'since' | 'before', string>>
>;

/** Returns the command that counts the causes of all API calls that match some filters. */
export function causesCommand({ project_id, request_id, key_slot, status, ...rest }: CallFilters): string {
  const flags = {
    project: project_id,
    request: request_id,
    status: status === 'rejected' ? undefined : status, // the command counts only rejected ones by itself
    'key-slot': key_slot,
    ...rest,
  };
  const set = Object.entries(flags).flatMap(([name, value]) =>
    value ? [`--${name} ${/^[\w./:-]+$/.test(value) ? value : quote(value)}`] : [],
  );
  return ['parley calls --by cause', ...set].join(' ');
}
