import type { Schemas } from '../api/client';

type Caller = Schemas['KeyCaller'];

/** How long the old credential has to be unused before its end is safe. */
export const quietMs = 6 * 3_600_000;

export interface Client {
  userAgent: string;
  address: string;
  /** The last call with the old credential. */
  lastAt: string;
  /** The last call with the new credential; null if none is known. */
  newAt: string | null;
}

/**
 * Whether to end an overlap: safe; wait; idle if the old credential was not used for quietMs, and the new one was
 * never used; or unseen if some clients of the old one have not used the new one since.
 */
type OverlapState = 'wait' | 'idle' | 'unseen' | 'safe';

export interface OverlapAdvice {
  state: OverlapState;
  /** When the credential was last used; null if no use since its rotation is known. */
  lastMs: number | null;
  /** When the end becomes safe if there is no further use, in Unix milliseconds. */
  safeAt: number;
  /** The clients of the old credential, the latest first. */
  clients: Client[];
  /** How many of the clients have not used the new credential since. */
  unseen: number;
}

/** The uses of an old credential and of the new one. Times are Unix milliseconds. */
export interface OldCredential {
  /** The time of the rotation; null if it is not known. */
  rotatedAt: number | null;
  /** The last use since the rotation; null if there was none, or if it is not known. */
  usedAt: number | null;
  /** The recent callers with it, also from before the rotation, and those with the new credential. */
  callers: Caller[];
  newCallers: Caller[];
  /** The last use of the new credential; null if there was none, or if it is not known. */
  newUsedAt: number | null;
}

/**
 * Returns the advice on the end of an overlap. The end is not called safe before each known client of the old
 * credential has used the new one: a client that seldom makes calls, such as a nightly job, would be rejected later.
 */
export function adviseOverlap(old: OldCredential, now: number): OverlapAdvice {
  const { rotatedAt, usedAt, newUsedAt } = old;
  const nameOf = ({ address, user_agent }: Caller): string => JSON.stringify([address, user_agent]);
  const newUses = new Map(old.newCallers.map((caller) => [nameOf(caller), caller.at]));
  const clients = old.callers.map((caller) => ({
    userAgent: caller.user_agent,
    address: caller.address,
    lastAt: caller.at,
    newAt: newUses.get(nameOf(caller)) ?? null,
  }));
  clients.sort((a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt));
  const unseen = clients.filter(({ lastAt, newAt }) => newAt === null || Date.parse(newAt) < Date.parse(lastAt)).length;
  const uses = clients.map(({ lastAt }) => Date.parse(lastAt)).filter((at) => at >= (rotatedAt ?? 0));
  if (usedAt !== null) uses.push(usedAt);
  const lastMs = uses.length > 0 ? Math.max(...uses) : null;
  const safeAt = (lastMs ?? rotatedAt ?? now) + quietMs;
  // Without the time of the rotation there is no count of its uses either.
  const unused = rotatedAt !== null && now >= safeAt;
  const state = !unused ? 'wait' : newUsedAt === null ? 'idle' : unseen > 0 ? 'unseen' : 'safe';
  return { state, lastMs, safeAt, clients, unseen };
}
