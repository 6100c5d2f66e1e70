import type { Room } from 'livekit-client';
import { useRef } from 'react';
import { isPresent, type Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import type { TrackReference } from './useRemoteTracks';

/**
 * Returns the identities of the other people with video. People who lost the connection keep
 * the state that they had, so that their tile stays in its place.
 */
export function useWithVideo(
  room: Room,
  people: readonly RosterEntry<Person>[],
  cameras: ReadonlyMap<string, TrackReference>,
): ReadonlySet<string> {
  const before = useRef<ReadonlySet<string>>(new Set());
  const identities = people
    .filter(({ person }) => (isPresent(room, person) ? cameras : before.current).has(person.identity))
    .map(({ person }) => person.identity);
  before.current = new Set(identities);
  return before.current;
}
