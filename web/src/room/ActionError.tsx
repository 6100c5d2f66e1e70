import type { ReactElement } from 'react';

/** Why it was not done, read out when it appears. */
export function ActionError({ text }: { text: string | null }): ReactElement {
  return (
    <div role="alert" className="trouble">
      {text && <p>{text}</p>}
    </div>
  );
}
