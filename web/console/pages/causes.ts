import type { Schemas } from '../api/client';

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
