import { useContext, type ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { TogetherContext } from './context';

/** That somebody's hand is up, and whose turn it is before them. */
export function HandBadge({ identity }: { identity: string }): ReactElement | null {
  const place = useContext(TogetherContext).hands.indexOf(identity) + 1;
  if (place === 0) return null;
  return (
    <span className="badge hand-badge">
      <Icon name="hand" />
      <span aria-hidden="true">{place}</span>
      <span className="sr-only">{t('hand.place', { n: place })}</span>
    </span>
  );
}
