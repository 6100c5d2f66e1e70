import type { ReactElement } from 'react';
import { digits } from '../messages';
import { Icon, type IconName } from '../ui/Icon';

interface Props {
  icon: IconName;
  label: string;
  /** A number that belongs to it. */
  count?: number;
  look?: 'plain' | 'off' | 'danger';
  onPress: () => void;
}

/** A round button with its name under it: shape and words, never colour alone. */
export function Control({ icon, label, count, look = 'plain', onPress }: Props): ReactElement {
  return (
    <button type="button" className={`control ${look}`} onClick={onPress}>
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
        {count !== undefined && <span className="sr-only"> ({digits(count)})</span>}
      </span>
    </button>
  );
}
