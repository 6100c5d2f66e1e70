import type { Role } from '../../api/client';
import type { RoomMetadata } from '../connection/roomMetadata';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';

/** Whether no other host is connected to this session, while other people are or breakout rooms are open. */
export function isLastHost(
  role: Role,
  people: readonly RosterEntry<Pick<Person, 'you' | 'role'>>[],
  { breakouts }: Pick<RoomMetadata, 'breakouts'>,
): boolean {
  const others = people.filter(({ person, disconnectedAt }) => !person.you && disconnectedAt === null);
  return role === 'host' && (others.length > 0 || breakouts.length > 0) && !others.some(({ person }) => person.role === 'host');
}
