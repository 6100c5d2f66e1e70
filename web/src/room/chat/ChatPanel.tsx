import { type ReactElement, useId, useLayoutEffect, useRef } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { Sheet } from '../../ui/Sheet';
import { ChatView } from './ChatView';
import type { Chat } from './useChat';

interface Props {
  chat: Chat;
  connected: boolean;
  /** There is no space next to the people, so that the chat covers them. */
  narrow: boolean;
  onClose: () => void;
}

/** The chat next to the people, or over them on small screens. */
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
  // Like a dialog: the focus returns to the element that opened it.
  useLayoutEffect(() => {
    const previousFocus = document.activeElement;
    const element = aside.current;
    return () => {
      if (previousFocus instanceof HTMLElement && element?.contains(document.activeElement)) previousFocus.focus();
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
