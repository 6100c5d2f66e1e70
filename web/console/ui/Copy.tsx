import { type ReactElement, useEffect, useState } from 'react';
import { shortenID } from '../format';
import { announce } from './announce';

const confirmedMs = 1_500;

interface Props {
  text: string;
  /** Names the copied text, such as "room ID". */
  what: string;
  /** Shown beside the icon. */
  label?: string;
  onCopied?: () => void;
}

/** A button that copies a text. */
export function Copy({ text, what, label, onCopied }: Props): ReactElement {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), confirmedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce(`Copied the ${what}.`);
      onCopied?.();
    } catch {
      announce(`Your browser does not allow copying here. Select the ${what} and copy it with the keyboard.`);
    }
  };
  return (
    <button
      type="button"
      className={label ? 'secondary copy' : 'copy'}
      aria-label={label ? undefined : `Copy the ${what}`}
      title={label ? undefined : `Copy the ${what}`}
      onClick={copy}
    >
      <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d={copied ? 'M5 13l4 4L19 7' : 'M9 9h10v11H9zM15 9V4H5v11h4'} />
      </svg>
      {label}
    </button>
  );
}

/** An ID, shortened, with a button that copies it. */
export function Id({ id, what, full = false }: { id: string; what: string; full?: boolean }): ReactElement {
  if (!id) return <span className="quiet">none</span>;
  return (
    <span className={full ? 'id full' : 'id'}>
      <code title={id}>{full ? id : shortenID(id)}</code>
      <Copy text={id} what={what} />
    </span>
  );
}

/** A text to copy as a whole, such as a command. */
export function CodeBlock({ text, what }: { text: string; what: string }): ReactElement {
  return (
    <div className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide text scrolls, which has to work with the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <Copy text={text} what={what} />
    </div>
  );
}
