import { useContext, type ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { HandsAndReactionsContext } from './context';

/** Shows that a person's hand is raised, and its position in the queue. */
export function HandBadge({ identity }: { identity: string }): ReactElement | null {
  const position = useContext(HandsAndReactionsContext).hands.indexOf(identity) + 1;
  if (position === 0) return null;
  return (
    <span className="badge hand-badge">
      <Icon name="hand" />
      <span aria-hidden="true">{position}</span>
      <span className="sr-only">{t('hand.place', { n: position })}</span>
    </span>
  );
}
