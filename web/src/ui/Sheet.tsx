import { useId, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react';
import { t } from '../messages';
import { Icon } from './Icon';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Something that opens over the page and closes again; the browser keeps the focus inside and gives it back. */
export function Sheet({ title, onClose, children }: Props): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before it leaves the page: only then does the browser give the focus back
  // to what opened it, also when one sheet follows another.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="sheet"
      aria-labelledby={id}
      // That it is closed since it leaves the page is told when it has left.
      onClose={() => dialog.current && onClose()}
      onClick={(event) => {
        // The backdrop belongs to the dialog itself, everything else lies in it.
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="sheet-body">
        <header className="sheet-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="round" aria-label={t('control.close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
