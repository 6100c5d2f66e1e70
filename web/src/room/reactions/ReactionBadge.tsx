import type { ReactElement } from 'react';
import { useStore } from '../../state/useStore';
import { useMeeting } from '../meeting';
import { ReactionIcon } from './ReactionIcon';

/** The current reaction of a person. Screen readers hear it from the live region. */
export function ReactionBadge({ identity }: { identity: string }): ReactElement | null {
  const shown = useStore(useMeeting().reactions).get(identity);
  if (!shown) return null;
  return (
    <span key={shown.key} className="reaction" data-reaction={shown.reaction} aria-hidden="true">
      <ReactionIcon reaction={shown.reaction} />
    </span>
  );
}
