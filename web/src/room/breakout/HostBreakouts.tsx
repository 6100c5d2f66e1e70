import type { ReactElement } from 'react';
import type { BreakoutRoom } from '../connection/roomMetadata';
import { useMeetingPeople, useMembership } from '../meeting';
import { ManageBreakouts } from './ManageBreakouts';
import { OpenBreakouts } from './OpenBreakouts';
import { usePersonLocations } from './usePersonLocations';

/** Opens breakout rooms for hosts, or manages the open ones. */
export function HostBreakouts({ rooms }: { rooms: readonly BreakoutRoom[] }): ReactElement {
  const { actions, seat } = useMembership();
  const { metadata, people: roster } = useMeetingPeople();
  const present = roster.filter(({ person, disconnectedAt }) => !person.you && disconnectedAt === null).map(({ person }) => person);
  const [people, moved] = usePersonLocations(actions, seat.identity, present, metadata);
  return metadata.breakouts.length > 0 ? (
    <ManageBreakouts rooms={rooms} people={people} onMoved={moved} />
  ) : (
    <OpenBreakouts people={people} />
  );
}
