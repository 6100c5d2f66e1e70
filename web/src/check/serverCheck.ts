import type { Room } from 'livekit-client';
import type { paths } from '../api/schema.gen';
import type { RoomModule } from '../room';
import type { Candidate } from '../room/check/mediaRoute';

type Report = paths['/checks/report']['post']['requestBody']['content']['application/json'];
/** What this browser saw of each path that it has tested. */
export type CheckedPaths = NonNullable<Report['paths']>;
export type PathName = keyof CheckedPaths;

/** `used`: the code of the check has been used or has expired. */
export type ServerCheck = { is: 'done'; paths: CheckedPaths } | { is: 'used' } | { is: 'unreachable' };

/** The path of a connection, and the server's address on it. */
export interface UsedPath {
  name: PathName;
  address: string;
}

/** The room's module, whose code this page shares. */
type Media = Pick<RoomModule, 'connectForMoment' | 'selectedCandidates'>;

type Post = (path: string, body: object) => Promise<Response>;

const post: Post = (path, body) =>
  fetch(`/api/join/checks${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
  });

/**
 * Returns a function that runs the check of a code: it connects as every page does, then through each TURN
 * server, and reports to the server what worked. After `unreachable` it continues where it stopped, because
 * the code works only once.
 */
export function serverCheck(code: string, media: Media): () => Promise<ServerCheck> {
  let key: string | null = null;
  let checked: CheckedPaths | null = null;
  const connect: Connect = async (configuration, read) => {
    const response = await post('/token', { key });
    if (!response.ok) return 'unknown';
    const { media_token } = (await response.json()) as { media_token: string };
    return media.connectForMoment(media_token, configuration, read);
  };
  return async () => {
    try {
      if (key === null) {
        const started = await post('', { code });
        if (started.status === 404) return { is: 'used' };
        if (!started.ok) return { is: 'unreachable' };
        ({ key } = (await started.json()) as { key: string });
      }
      checked ??= await testPaths(connect, (report) => media.selectedCandidates(report));
      const reported = await post('/report', { key, paths: checked });
      if (reported.status === 404) return { is: 'used' };
      return reported.ok ? { is: 'done', paths: checked } : { is: 'unreachable' };
    } catch {
      return { is: 'unreachable' };
    }
  };
}

/** A path on which the server names no address, as far as the browser knows. */
const notOffered = { offered: false, works: false, address: '' };

type Connect = <T>(configuration: RTCConfiguration, read: (room: Room) => Promise<T>) => Promise<T | 'none' | 'unknown'>;

async function testPaths(connect: Connect, selectedCandidates: Media['selectedCandidates']): Promise<CheckedPaths> {
  const usedPath = async (room: Room): Promise<UsedPath | null> => {
    const report = await room.engine.pcManager?.publisher.getStats();
    const selected = report && selectedCandidates(report);
    return selected ? pathOf(selected.local, selected.remote) : null;
  };
  let servers: RTCIceServer[] = [];
  const best = await connect({}, async (room) => {
    servers = (room.engine.latestJoinResponse?.iceServers ?? []).map(({ urls, username, credential }) => ({ urls, username, credential }));
    return usedPath(room);
  });
  const checked: CheckedPaths = best === 'unknown' || best === null ? {} : resultsOf(best === 'none' ? null : best);
  for (const [name, scheme] of [
    ['turn_tcp', 'turn:'],
    ['turn_tls', 'turns:'],
  ] as const) {
    const iceServers = servers.flatMap(({ urls, ...others }) => {
      const ofScheme = [urls].flat().filter((url) => url.startsWith(scheme));
      return ofScheme.length > 0 ? [{ ...others, urls: ofScheme }] : [];
    });
    const [url] = iceServers.flatMap(({ urls }) => urls);
    if (!url) {
      if (best !== 'unknown') checked[name] = notOffered;
      continue;
    }
    const relayed = await connect({ iceServers, iceTransportPolicy: 'relay' }, usedPath);
    if (relayed === 'unknown') continue;
    checked[name] = { offered: true, works: relayed !== 'none', address: url.slice(scheme.length).split('?')[0] ?? '' };
  }
  return checked;
}

/** Returns what follows from the path that a browser has chosen, null for none: it prefers UDP. */
export function resultsOf(used: UsedPath | null): CheckedPaths {
  if (used?.name === 'udp') return { udp: { offered: true, works: true, address: used.address } };
  const udp = { offered: true, works: false, address: '' };
  return { udp, ice_tcp: used?.name === 'ice_tcp' ? { offered: true, works: true, address: used.address } : notOffered };
}

/** Returns the path to which the selected candidates belong. */
export function pathOf(local: Candidate | undefined, remote: Candidate | undefined): UsedPath | null {
  if (!local) return null;
  const name =
    local.candidateType === 'relay'
      ? local.relayProtocol === 'tls'
        ? 'turn_tls'
        : 'turn_tcp'
      : local.protocol === 'tcp'
        ? 'ice_tcp'
        : 'udp';
  const host = remote?.address?.includes(':') ? `[${remote.address}]` : remote?.address;
  return { name, address: host ? `${host}:${remote?.port ?? 0}` : '' };
}
