import type { Schemas } from '../api/client';

type Call = Schemas['Call'];

/** How long the old credential has to be unused before its end is safe. */
export const quietMs = 6 * 3_600_000;

export interface Client {
  userAgent: string;
  address: string;
  /** Empty for a caller whose calls are not recorded any more. */
  route: string;
  /** How many of the recorded calls are this client's. */
  calls: number;
  lastAt: string;
}

/**
 * Whether to end an overlap: safe; wait; or idle if the old credential was not used for quietMs, and the new one was
 * never used.
 */
type OverlapState = 'wait' | 'idle' | 'safe';

export interface OverlapAdvice {
  state: OverlapState;
  /** When the credential was last used; null if no use since its rotation is known. */
  lastMs: number | null;
  /** When the end becomes safe if there is no further use, in Unix milliseconds. */
  safeAt: number;
  clients: Client[];
}

/** The uses of an old credential and of the new one. Times are Unix milliseconds. */
export interface OldCredential {
  /** The time of the rotation; null if it is not known. */
  rotatedAt: number | null;
  /** The last use since the rotation; null if there was none, or if it is not known. */
  usedAt: number | null;
  /** The caller of the last use, if it is known. */
  usedBy?: Schemas['KeyCaller'];
  /** The last use of the new credential; null if there was none, or if it is not known. */
  newUsedAt: number | null;
}

/**
 * Returns the advice on the end of an overlap. The calls are the newest ones with the old
 * credential, so they show its clients but not all its uses. Calls from before the rotation do
 * not count, because every client used the credential then. The end is not called safe before the new
 * credential was used: a backend that seldom makes calls would be rejected later.
 */
export function adviseOverlap(calls: Call[], { rotatedAt, usedAt, usedBy, newUsedAt }: OldCredential, now: number): OverlapAdvice {
  const since = calls.filter(({ at }) => Date.parse(at) >= (rotatedAt ?? 0));
  const clients = new Map<string, Client>();
  for (const { user_agent, client_address, route, at } of since) {
    const key = JSON.stringify([user_agent, client_address, route]);
    const client = clients.get(key);
    if (client) client.calls++;
    else clients.set(key, { userAgent: user_agent, address: client_address, route, calls: 1, lastAt: at });
  }
  if (usedBy) {
    const same = [...clients.values()].find(({ userAgent, address }) => userAgent === usedBy.user_agent && address === usedBy.address);
    if (!same) clients.set('', { userAgent: usedBy.user_agent, address: usedBy.address, route: '', calls: 0, lastAt: usedBy.at });
    else if (Date.parse(usedBy.at) > Date.parse(same.lastAt)) same.lastAt = usedBy.at;
  }
  const newestFirst = [...clients.values()].sort((a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt));
  const called = since[0] ? Date.parse(since[0].at) : null;
  const lastMs = called === null ? usedAt : Math.max(called, usedAt ?? 0);
  const safeAt = (lastMs ?? rotatedAt ?? now) + quietMs;
  // Without the time of the rotation there is no count of its uses either.
  const unused = rotatedAt !== null && now >= safeAt;
  const state = !unused ? 'wait' : newUsedAt === null ? 'idle' : 'safe';
  return { state, lastMs, safeAt, clients: newestFirst };
}
