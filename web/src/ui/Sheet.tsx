import { type ReactElement, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { t } from '../messages';
import { Icon } from './Icon';

interface Props {
  title: string;
  /** Takes the place of the visible title. */
  head?: ReactNode;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog over the page. The browser keeps the focus inside and restores it. */
export function Sheet({ title, head, className = 'sheet', onClose, children }: Props): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const focused = useRef<Element | null>(null);
  const id = useId();
  // In a layout effect, so that the dialog is closed before it is removed: only then does
  // the browser restore the focus, also when one sheet replaces another.
  useLayoutEffect(() => {
    const element = dialog.current;
    return () => element?.close();
  }, []);
  // Escape closes the dialog at once, but its close event comes later. When a shortcut shows other
  // content in between, the dialog is opened again.
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, [title]);
  // The button that was pressed is gone, as when breakout rooms are opened. Without the focus in the dialog, the keyboard and
  // screen readers begin outside of it. An observer, because the content of the dialog changes without a rendering of Sheet.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const observer = new MutationObserver(() => {
      if (focused.current?.isConnected !== false || document.activeElement !== document.body) return;
      element.querySelector<HTMLElement>('.sheet-head > button')?.focus();
    });
    observer.observe(element, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a dialog with Escape
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={head ? undefined : id}
      aria-label={head ? title : undefined}
      onFocusCapture={({ target }) => {
        focused.current = target;
      }}
      // The close event that removal causes arrives after the removal and is ignored, and so is that of
      // a dialog that was opened again.
      onClose={() => dialog.current?.open === false && onClose()}
      onClick={(event) => {
        // A click on the backdrop has the dialog as its target; every other click has a child.
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="sheet-body">
        <header className="sheet-head">
          {head ?? <h2 id={id}>{title}</h2>}
          <button type="button" className="round" aria-label={t('control.close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
