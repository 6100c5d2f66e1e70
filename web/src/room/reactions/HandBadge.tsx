import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { useMeetingPeople } from '../meeting';

/** Shows that a person's hand is raised, and its position in the queue. */
export function HandBadge({ identity }: { identity: string }): ReactElement | null {
  const position = useMeetingPeople().hands.findIndex((person) => person.identity === identity) + 1;
  if (position === 0) return null;
  return (
    <span className="badge hand-badge">
      <Icon name="hand" />
      <span aria-hidden="true">{position}</span>
      <span className="sr-only">{t('hand.place', { n: position })}</span>
    </span>
  );
}
