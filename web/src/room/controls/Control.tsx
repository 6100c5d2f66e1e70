import type { ReactElement } from 'react';
import { count as counting, formatNumber } from '../../messages';
import { useStore } from '../../state/useStore';
import { Icon, type IconName } from '../../ui/Icon';
import { shortcutsEnabled } from '../shortcuts/shortcutsEnabled';

interface Props {
  icon: IconName;
  label: string;
  /** A number in the corner of the button. */
  count?: number;
  /** The text for screen readers; the number itself by default. */
  countLabel?: string;
  /** How many people wait to be admitted. */
  waiting?: number;
  variant?: 'plain' | 'off' | 'danger';
  /** The key that does the same. */
  shortcutKey?: string;
  onPress: () => void;
}

/** A round button with its label below. Shape and text carry the meaning, never color alone. */
export function Control({ icon, label, count, countLabel, waiting = 0, variant = 'plain', shortcutKey, onPress }: Props): ReactElement {
  const shortcutsOn = useStore(shortcutsEnabled);
  return (
    <button type="button" className={`control ${variant}`} aria-keyshortcuts={shortcutsOn ? shortcutKey : undefined} onClick={onPress}>
      <span className="control-round">
        <Icon name={icon} />
        {count !== undefined && (
          <span className="control-count" aria-hidden="true">
            {formatNumber(count)}
          </span>
        )}
        {waiting > 0 && (
          <span className="control-count knocks" aria-hidden="true">
            {formatNumber(waiting)}
          </span>
        )}
      </span>
      <span className="control-label">
        {label}
        {count !== undefined && <span className="sr-only"> ({countLabel ?? formatNumber(count)})</span>}
        {waiting > 0 && <span className="sr-only"> ({counting('waitingRoom.people', waiting)})</span>}
      </span>
    </button>
  );
}
