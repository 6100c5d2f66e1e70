import type { ReactElement, ReactNode } from 'react';
import type { ApiError } from '../api/client';
import { CodeBlock, Id } from './Copy';

/** Says why something did not work, and what to do. */
export function ErrorBox({ error, retry }: { error: ApiError; retry?: () => void }): ReactElement {
  return (
    <div className="box problem" role="alert">
      <p>{sentence(error.message)}</p>
      {error.requestId && (
        <p className="small quiet">
          Request <Id id={error.requestId} what="request ID" />
        </p>
      )}
      {/* What does not exist is not there at another attempt either. */}
      {retry && error.status !== 404 && (
        <button type="button" className="secondary" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Returns a message of the API, which starts with a small letter, as a sentence. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  /** A command for the next step. */
  command?: string;
}

/** The text of a page that has nothing to show yet, with the next step. */
export function Empty({ title, children, command }: EmptyProps): ReactElement {
  return (
    <div className="box empty">
      <h2>{title}</h2>
      {children}
      {command && <CodeBlock text={command} what="command" />}
    </div>
  );
}
