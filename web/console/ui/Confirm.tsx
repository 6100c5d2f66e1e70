import { type FormEvent, type ReactElement, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Store } from '../../src/state/store';
import { useStore } from '../../src/state/useStore';
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
  /** Performs the action with the fields of the dialog, and returns a sentence that says what was done. */
  act: (form: FormData) => Promise<string>;
  onDone?: () => void;
  onClose: () => void;
  /** The text of the button that does nothing. */
  dismiss?: string;
  /** A word that must be typed before the action, so that it does not happen by accident. */
  typed?: string;
}

/** A dialog that says what will happen, and does it. An error stays in it. */
function Confirm({ title, children, final = false, act, onDone, onClose, typed, dismiss = 'Cancel' }: Props): ReactElement {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [word, setWord] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      announce(await act(new FormData(event.currentTarget)));
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
            aria-disabled={busy}
            disabled={typed !== undefined && asRead(word) !== asRead(typed)}
          >
            {title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface Opened {
  /** The number of the opening, because a button may open its dialog again while an earlier action still waits for its response. */
  opening: number;
  action: string | undefined;
  confirm: Omit<Props, 'onClose'>;
}

/**
 * The open dialog. It belongs to the page and not to its button: the page often shows the effect of an action, without the button, before
 * the response arrives, and the dialog may have an error to show.
 */
const opened = new Store<Opened | null>(null);

/** Shows the dialog that a button of the page has opened. */
export function OpenedConfirm(): ReactElement | null {
  const now = useStore(opened);
  // Before the next page is drawn, so that its heading gets the focus.
  useLayoutEffect(() => () => opened.set(null), []);
  if (!now) return null;
  const { opening, confirm } = now;
  const close = (): void => {
    if (opened.get()?.opening === opening) opened.set(null);
  };
  return <Confirm key={opening} {...confirm} onClose={close} />;
}

interface ButtonProps extends Omit<Props, 'onClose'> {
  label?: string;
  ariaLabel?: string | undefined;
  className?: string;
  onOpen?: () => void;
  /** Names the action of a button that has others at other times, so that an open dialog keeps its own. */
  action?: string;
}

let openings = 0;

/** A button that opens a dialog before it does anything. */
export function ActionButton({ label, ariaLabel, className = 'secondary', onOpen, action, ...confirm }: ButtonProps): ReactElement {
  const opening = useRef(0);
  // The dialog shows what the page knows now. It stays the same when the button has another action meanwhile.
  useLayoutEffect(() => {
    const now = opened.get();
    if (now?.opening === opening.current && now.action === action) opened.set({ ...now, confirm });
  });
  const show = (): void => {
    onOpen?.();
    opening.current = ++openings;
    opened.set({ opening: opening.current, action, confirm });
  };
  return (
    <button type="button" className={className} aria-label={ariaLabel} onClick={show}>
      {label ?? confirm.title}
    </button>
  );
}
