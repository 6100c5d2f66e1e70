import type { ReactElement, ReactNode } from 'react';
import { formatCount } from '../format';
import { ActionButton } from '../ui/Confirm';

interface SuspendProps {
  what: 'project' | 'organization';
  /** Suspends it, and returns how many meetings were ended. */
  suspend: (body: { end_rooms: boolean }) => Promise<{ rooms_ended?: number }>;
  onDone: () => void;
  /** Describes the effect. */
  children: ReactNode;
}

/** Suspends a project or an organization, and ends its running meetings if that is wanted. */
export function SuspendButton({ what, suspend, onDone, children }: SuspendProps): ReactElement {
  return (
    <ActionButton
      title={`Suspend the ${what}`}
      className="secondary danger-text"
      final
      onDone={onDone}
      act={async (form) => {
        const { rooms_ended = 0 } = await suspend({ end_rooms: form.has('end_rooms') });
        return `The ${what} is suspended. ${formatCount(rooms_ended, 'room was', 'rooms were')} ended.`;
      }}
    >
      <p>
        {children} Running meetings continue unless you end them too. You can resume the {what} at any time.
      </p>
      <label className="check">
        <input type="checkbox" name="end_rooms" />
        End the running meetings for all participants
      </label>
    </ActionButton>
  );
}

interface ResumeProps {
  what: 'project' | 'organization';
  resume: () => Promise<unknown>;
  onDone: () => void;
  /** Describes the effect. */
  children: ReactNode;
}

/** Resumes a project or an organization. */
export function ResumeButton({ what, resume, onDone, children }: ResumeProps): ReactElement {
  return (
    <ActionButton
      title={`Resume the ${what}`}
      onDone={onDone}
      act={async () => {
        await resume();
        return `The ${what} is resumed.`;
      }}
    >
      <p>{children}</p>
    </ActionButton>
  );
}
