import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import { ApiError, errorOfChange } from '../api/client';
import { asRead } from '../format';
import { announce } from './announce';
import { Dialog } from './Dialog';
import { ErrorBox } from './states';

interface Props {
  /** Names the action of the button, such as "End the room". */
  title: string;
  /** Describes the effect of the action, and the people that it affects. */
  children?: ReactNode;
  /** Whether the action cannot be undone. */
  final?: boolean;
  /** Performs the action and returns a sentence that says what was done. */
  act: () => Promise<string>;
  onDone?: () => void;
  onClose: () => void;
  /** The text of the button that does nothing. */
  dismiss?: string;
  /** A word that must be typed before the action, so that it does not happen by accident. */
  typed?: string;
}

/** A dialog that says what will happen, and does it. An error stays in it. */
export function Confirm({ title, children, final = false, act, onDone, onClose, typed, dismiss = 'Cancel' }: Props): ReactElement {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [word, setWord] = useState('');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      announce(await act());
      onClose();
      onDone?.();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(errorOfChange(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`${title}?`} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {children}
        {typed && (
          <label className="field">
            <span>
              Type <strong>{typed}</strong> to confirm
            </span>
            <input value={word} autoComplete="off" onChange={(event) => setWord(event.currentTarget.value)} />
          </label>
        )}
        {error && <ErrorBox error={error} />}
        <div className="actions">
          <button type="button" className="secondary" onClick={onClose}>
            {dismiss}
          </button>
          <button
            type="submit"
            className={final ? 'primary final' : 'primary'}
            disabled={busy || (typed !== undefined && asRead(word) !== asRead(typed))}
          >
            {title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ButtonProps extends Omit<Props, 'onClose'> {
  label?: string;
  ariaLabel?: string | undefined;
  className?: string;
  /**
   * Whether the action is possible now. The page often shows the effect of an action before its response arrives, so the dialog stays
   * open without its button: it may have an error to show.
   */
  offered?: boolean;
  onOpen?: () => void;
}

/** A button that opens a dialog before it does anything. */
export function ActionButton({ label, ariaLabel, className = 'secondary', offered = true, onOpen, ...confirm }: ButtonProps): ReactElement {
  const [open, setOpen] = useState(false);
  const show = (): void => {
    onOpen?.();
    setOpen(true);
  };
  return (
    <>
      {offered && (
        <button type="button" className={className} aria-label={ariaLabel} onClick={show}>
          {label ?? confirm.title}
        </button>
      )}
      {open && <Confirm {...confirm} onClose={() => setOpen(false)} />}
    </>
  );
}
