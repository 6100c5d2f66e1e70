import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import { ApiError, errorOfChange } from '../api/client';
import { Dialog } from './Dialog';
import { ErrorBox } from './states';

interface Props {
  title: string;
  /** The text of the button. */
  submit: string;
  act: (form: FormData) => Promise<void>;
  onClose: () => void;
  /** Whether the form is not complete yet. */
  incomplete?: boolean;
  children: ReactNode;
}

/** A dialog with a form. An error stays in it. */
export function FormDialog({ title, submit, act, onClose, incomplete = false, children }: Props): ReactElement {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await act(new FormData(event.currentTarget));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(errorOfChange(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={send}>
        {children}
        {error && <ErrorBox error={error} />}
        <div className="actions">
          <button type="button" className="secondary" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" aria-disabled={busy} disabled={incomplete}>
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
