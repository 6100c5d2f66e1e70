import { type ReactElement, useEffect, useRef } from 'react';
import { count, t } from '../../messages';
import { useAnnouncer } from '../notices/useAnnouncer';
import { type ChatLog, type ChatMessage, excerpt, newMessages } from './chatLog';

/** Messages within this time are announced together. */
const batchMs = 1_500;

/** A live region that announces new messages. The open chat announces its own. */
export function ChatLiveRegion({ log: { entries, open } }: { log: ChatLog }): ReactElement {
  const [text, announce] = useAnnouncer<ChatMessage>((messages) => {
    const [first] = messages;
    if (!first || open) return '';
    if (messages.length > 1) return count('chat.new', messages.length);
    return t('chat.says', { name: first.name || t('chat.formerParticipant'), text: excerpt(first.text, 160) });
  });
  const before = useRef(entries);
  const pending = useRef<ChatMessage[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    const added = newMessages(before.current, entries);
    before.current = entries;
    if (open) pending.current = [];
    else pending.current.push(...added);
    if (pending.current.length === 0 || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      announce(pending.current.splice(0));
    }, batchMs);
  }, [entries, open, announce]);
  useEffect(() => () => clearTimeout(timer.current), []);

  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}
