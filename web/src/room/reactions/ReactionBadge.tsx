import type { ReactElement } from 'react';
import { formatNumber } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeetingPeople } from '../meeting';
import { ReactionIcon } from './ReactionIcon';

/** The current reactions of a person, with how often each came. Screen readers hear them from the live region. */
export function ReactionBadge({ identity }: { identity: string }): ReactElement | null {
  const shown = useStore(useMeetingPeople().reactions).get(identity);
  if (!shown) return null;
  return (
    <span className="reactions" aria-hidden="true">
      {shown.map(({ reaction, count, key }) => (
        <span key={reaction} className="reaction" data-reaction={reaction}>
          <ReactionIcon reaction={reaction} />
          {count > 1 && (
            <span key={key} className="reaction-count">
              ×{formatNumber(count)}
            </span>
          )}
        </span>
      ))}
    </span>
  );
}
