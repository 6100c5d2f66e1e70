import type { ReactElement, ReactNode } from 'react';
import { formatCount } from '../format';
import { ActionButton } from '../ui/Confirm';

interface Props {
  what: 'project' | 'organization';
  /** Whether it is suspended now. */
  suspended: boolean;
  /** Suspends or resumes it, and returns how many meetings were ended. */
  change: (body: { end_rooms: boolean }) => Promise<{ rooms_ended?: number }>;
  onDone: () => void;
  /** Describes the effect. */
  children: ReactNode;
}

/**
 * Suspends a project or an organization, and ends its running meetings if that is wanted, or resumes it. It is one button, so that it keeps
 * the focus after each.
 */
export function SuspensionButton({ what, suspended, change, onDone, children }: Props): ReactElement {
  const act = async (form: FormData): Promise<string> => {
    const { rooms_ended = 0 } = await change({ end_rooms: form.has('end_rooms') });
    if (suspended) return `The ${what} is resumed.`;
    return `The ${what} is suspended. ${formatCount(rooms_ended, 'room was', 'rooms were')} ended.`;
  };
  return (
    <ActionButton
      action={suspended ? 'resume' : 'suspend'}
      title={`${suspended ? 'Resume' : 'Suspend'} the ${what}`}
      className={suspended ? 'secondary' : 'secondary danger-text'}
      final={!suspended}
      onDone={onDone}
      act={act}
    >
      {suspended ? (
        <p>{children}</p>
      ) : (
        <>
          <p>
            {children} Running meetings continue unless you end them too. You can resume the {what} at any time.
          </p>
          <label className="check">
            <input type="checkbox" name="end_rooms" />
            End the running meetings for all participants
          </label>
        </>
      )}
    </ActionButton>
  );
}
