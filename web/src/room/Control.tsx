import type { ReactElement } from 'react';
import { useStore } from '../lib/useStore';
import { count as counting, digits } from '../messages';
import { Icon, type IconName } from '../ui/Icon';
import { keysOn } from './keys/choice';

interface Props {
  icon: IconName;
  label: string;
  /** A number that belongs to it. */
  count?: number;
  /** What the number says to those who listen; the bare number otherwise. */
  counted?: string;
  /** How many wait to be let in behind it. */
  waiting?: number;
  look?: 'plain' | 'off' | 'danger';
  /** The letter that does the same. */
  letter?: string;
  onPress: () => void;
}

/** A round button with its name under it: shape and words, never colour alone. */
export function Control({ icon, label, count, counted, waiting = 0, look = 'plain', letter, onPress }: Props): ReactElement {
  const keys = useStore(keysOn);
  return (
    <button type="button" className={`control ${look}`} aria-keyshortcuts={keys ? letter : undefined} onClick={onPress}>
      <span className="control-round">
        <Icon name={icon} />
        {count !== undefined && (
          <span className="control-count" aria-hidden="true">
            {digits(count)}
          </span>
        )}
        {waiting > 0 && (
          <span className="control-count waits" aria-hidden="true">
            {digits(waiting)}
          </span>
        )}
      </span>
      <span className="control-label">
        {label}
        {count !== undefined && <span className="sr-only"> ({counted ?? digits(count)})</span>}
        {waiting > 0 && <span className="sr-only"> ({counting('door.many', waiting)})</span>}
      </span>
    </button>
  );
}
