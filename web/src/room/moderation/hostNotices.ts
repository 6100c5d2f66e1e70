import type { Locks } from '../connection/roomMetadata';

/** The features that hosts can lock for guests. */
export const guestFeatures = ['microphone', 'camera', 'screen_share', 'chat'] as const;
export type GuestFeature = (typeof guestFeatures)[number];

/** The changes by hosts that the visitor has not read yet, at most one of each kind. */
export interface HostNotices {
  mic: { is: 'muted' | 'asks'; from: string; key: number } | null;
  role: { is: 'cohost' | 'guest'; key: number } | null;
  locks: { changes: readonly LockChange[]; key: number } | null;
  /** The number of notices so far. */
  count: number;
}

export interface LockChange {
  feature: GuestFeature;
  locked: boolean;
}

export type HostEvent =
  | { type: 'muted' | 'asks'; from: string }
  | { type: 'role'; role: 'cohost' | 'guest' }
  | { type: 'locks'; before: Locks; after: Locks }
  /** The visitor has read it, or its time is up. */
  | { type: 'read'; kind: 'mic' | 'role' | 'locks' };

export const noHostNotices: HostNotices = { mic: null, role: null, locks: null, count: 0 };

export function reduceHostNotices(notices: HostNotices, event: HostEvent): HostNotices {
  const key = notices.count + 1;
  switch (event.type) {
    case 'muted':
    case 'asks':
      return { ...notices, mic: { is: event.type, from: event.from, key }, count: key };
    case 'role':
      // The permissions follow from the role.
      return { ...notices, role: { is: event.role, key }, locks: null, count: key };
    case 'locks': {
      const changes = mergeChanges(notices.locks?.changes ?? [], event.before, event.after);
      if (changes === null) return notices;
      return { ...notices, locks: changes.length > 0 ? { changes, key } : null, count: key };
    }
    case 'read':
      return { ...notices, [event.kind]: null };
  }
}

/** Adds the changes to those that are shown. A change that is undone disappears. Returns null when nothing changed. */
function mergeChanges(shown: readonly LockChange[], before: Locks, after: Locks): LockChange[] | null {
  const changed = guestFeatures.filter((feature) => before[feature] !== after[feature]);
  if (changed.length === 0) return null;
  const undone = changed.filter((feature) => shown.some((change) => change.feature === feature));
  return [
    ...shown.filter(({ feature }) => !undone.includes(feature)),
    ...changed.filter((feature) => !undone.includes(feature)).map((feature) => ({ feature, locked: after[feature] })),
  ];
}
