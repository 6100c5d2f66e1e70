import type { Schemas } from '../api/client';

type Version = Schemas['SignedRequest']['version'];

/** The ways in which requests are signed, each with its words. */
export const signatureVersions: readonly (readonly [Version, string])[] = [
  ['v3', 'Version 3: signs the body'],
  ['v4', 'Version 4 and join events: signs the body'],
  ['v5', 'Version 5: signs method, path, time and body'],
  ['companion', 'Companion route of versions 3 and 4'],
];

/** The routes of versions 3 and 4 that sign only the body: the creations, the status of the project and join events. */
const signsBody = /\/(?:create_\w+_room|update_project_status)$|\/webhook\//;

/** Returns how a request of the request log was signed. Without a path, it is a creation. */
export function signatureVersion({ version, path = '' }: Readonly<Record<string, string>>): Version {
  if (version === 'v5' || path.startsWith('/api/v5/')) return 'v5';
  if (path !== '' && !signsBody.test(path)) return 'companion';
  return version === 'v3' || path.startsWith('/api/v3/') ? 'v3' : 'v4';
}
