import { useId, useLayoutEffect, useRef, type ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { Sheet } from '../../ui/Sheet';
import { ChatView } from './ChatView';
import type { Chat } from './useChat';

interface Props {
  chat: Chat;
  connected: boolean;
  /** No room beside the people: it lies over them. */
  narrow: boolean;
  onClose: () => void;
}

/** The chat beside the people, or over them where there is no room. */
export function ChatPanel({ chat, connected, narrow, onClose }: Props): ReactElement {
  const { setOpen } = chat;
  useLayoutEffect(() => {
    setOpen(true);
    return () => setOpen(false);
  }, [setOpen]);
  const view = <ChatView chat={chat} connected={connected} />;
  return narrow ? (
    <Sheet title={t('chat.title')} onClose={onClose}>
      {view}
    </Sheet>
  ) : (
    <Aside onClose={onClose}>{view}</Aside>
  );
}

function Aside({ children, onClose }: { children: ReactElement; onClose: () => void }): ReactElement {
  const id = useId();
  const aside = useRef<HTMLElement>(null);
  // As a dialog does: the focus goes back to what opened it.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = aside.current;
    return () => {
      if (opener instanceof HTMLElement && element?.contains(document.activeElement)) opener.focus();
    };
  }, []);
  return (
    <aside
      ref={aside}
      className="chat-aside"
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header className="sheet-head">
        <h2 id={id}>{t('chat.title')}</h2>
        <button type="button" className="round" aria-label={t('chat.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </aside>
  );
}
