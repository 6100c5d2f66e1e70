import type { ReactElement } from 'react';

/** Shows why an action failed. Screen readers read it when it appears. */
export function ActionError({ text }: { text: string | null }): ReactElement {
  return (
    <div role="alert" className="action-error">
      {text && <p>{text}</p>}
    </div>
  );
}
