import type { ReactElement } from 'react';
import { useStore } from '../lib/useStore';
import { digits } from '../messages';
import { Icon, type IconName } from '../ui/Icon';
import { keysOn } from './keys/choice';

interface Props {
  icon: IconName;
  label: string;
  /** A number that belongs to it. */
  count?: number;
  /** What the number says to those who listen; the bare number otherwise. */
  counted?: string;
  look?: 'plain' | 'off' | 'danger';
  /** The letter that does the same. */
  letter?: string;
  onPress: () => void;
}

/** A round button with its name under it: shape and words, never colour alone. */
export function Control({ icon, label, count, counted, look = 'plain', letter, onPress }: Props): ReactElement {
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
      </span>
      <span className="control-label">
        {label}
        {count !== undefined && <span className="sr-only"> ({counted ?? digits(count)})</span>}
      </span>
    </button>
  );
}
