import { type ReactElement, useEffect, useState } from 'react';
import { Store } from '../../src/state/store';
import { useStore } from '../../src/state/useStore';
import { guardLeaving } from '../router';
import { Copy } from './Copy';
import { Dialog } from './Dialog';

export interface Shown {
  title: string;
  /** Says how to handle the secrets. */
  hint: string;
  secrets: { name: string; value: string }[];
}

/** What a person has not closed yet. The first is shown. */
const waiting = new Store<readonly Shown[]>([]);

/**
 * Shows secrets once, until the person closes them: also while the page changes, and after the session has ended. They appear after the
 * dialog of the caller has closed, so that the focus then returns to the button of that dialog. Others that come meanwhile are shown after
 * them.
 */
export function showSecrets(secrets: Shown): void {
  setTimeout(() => waiting.set([...waiting.get(), secrets]));
}

/** Has the browser ask before the tab is closed, until the returned function is called. */
function warnBeforeClosing(): () => void {
  const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
  window.addEventListener('beforeunload', warn);
  return () => window.removeEventListener('beforeunload', warn);
}

/** The secrets that are shown. They are beside the pages, because nobody could read them again after a page was left. */
export function ShownSecrets(): ReactElement | null {
  const [first, ...others] = useStore(waiting);
  const hasOthers = others.length > 0;
  useEffect(() => (hasOthers ? warnBeforeClosing() : undefined), [hasOthers]);
  if (!first) return null;
  return <Secrets key={first.secrets[0]?.value} {...first} onClose={() => waiting.set(waiting.get().slice(1))} />;
}

/**
 * Shows secrets. Closing before all of them were copied needs a second click, and the Back button of the browser only warns.
 */
function Secrets({ title, hint, secrets, onClose }: Shown & { onClose: () => void }): ReactElement {
  const [copied, setCopied] = useState<ReadonlySet<string>>(new Set());
  const [warned, setWarned] = useState(false);
  const missing = secrets.filter(({ name }) => !copied.has(name));
  const allCopied = missing.length === 0;
  useEffect(() => {
    if (allCopied) return;
    const close = warnBeforeClosing();
    const release = guardLeaving(() => {
      setWarned(true);
      return false;
    });
    return () => {
      close();
      release();
    };
  }, [allCopied]);
  const close = (): void => (allCopied || warned ? onClose() : setWarned(true));
  return (
    <Dialog title={title} onClose={close}>
      <div className="stack">
        <p>
          {hint} <strong>{secrets.length === 1 ? 'It is' : 'They are'} shown only this once.</strong>
        </p>
        {secrets.map(({ name, value }) => (
          <div className="field" key={name}>
            <span className="label">{name}</span>
            <div className="secret">
              <code>{value}</code>
              <Copy text={value} what={name} label="Copy" onCopied={() => setCopied(new Set([...copied, name]))} />
            </div>
          </div>
        ))}
        <p className="wrong" role="alert">
          {warned && !allCopied && `You have not copied: ${missing.map(({ name }) => name).join(', ')}. Nobody can read it again.`}
        </p>
        <div className="actions">
          <button type="button" className="primary" onClick={close}>
            {warned && !allCopied ? 'Close anyway' : 'I have saved it'}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
