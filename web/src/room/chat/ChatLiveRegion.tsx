import { type ReactElement, useEffect, useRef } from 'react';
import { count, t } from '../../messages';
import { useAnnouncer } from '../notices/useAnnouncer';
import { type ChatLog, type ChatMessage, excerpt, newMessages } from './chatLog';

/** Messages within this time are announced together. */
const batchMs = 1_500;

/** A live region that announces new messages. The open chat announces its own. */
export function ChatLiveRegion({ log: { entries, unread } }: { log: ChatLog }): ReactElement {
  const [text, announce] = useAnnouncer<ChatMessage>((messages) => {
    // The visitor may have opened the chat since the first of them came.
    const [first, ...more] = unread > 0 ? messages.slice(-unread) : [];
    if (!first) return '';
    if (more.length > 0) return count('chat.new', more.length + 1);
    return t('chat.says', { name: first.name || t('chat.formerParticipant'), text: excerpt(first.text, 160) });
  }, batchMs);
  const before = useRef(entries);
  useEffect(() => {
    announce(newMessages(before.current, entries));
    before.current = entries;
  }, [entries, announce]);

  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}
