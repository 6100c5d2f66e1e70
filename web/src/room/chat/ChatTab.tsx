import { type ReactElement, useLayoutEffect } from 'react';
import { t } from '../../messages';
import { useMeetingMedia } from '../meeting';
import { ChatView } from './ChatView';
import type { Chat } from './useChat';

/** The chat in the side panel. Nobody reads it while the page is hidden. */
export function ChatTab({ chat, focusField }: { chat: Chat; focusField: boolean }): ReactElement {
  const { connection, connectionLost } = useMeetingMedia();
  const { setOpen } = chat;
  useLayoutEffect(() => {
    const update = (): void => setOpen(!document.hidden);
    update();
    document.addEventListener('visibilitychange', update);
    return () => {
      document.removeEventListener('visibilitychange', update);
      setOpen(false);
    };
  }, [setOpen]);
  return (
    <>
      <h2 className="sr-only">{t('chat.title')}</h2>
      <ChatView chat={chat} connected={connection.is === 'connected' && !connectionLost} focusField={focusField} />
    </>
  );
}
