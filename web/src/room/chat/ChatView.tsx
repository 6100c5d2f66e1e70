import { type ReactElement, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { count, t } from '../../messages';
import { ChatMessageItem } from './ChatMessageItem';
import { Composer } from './Composer';
import { type ChatMessage, findMessage, type LogEntry, newMessages } from './chatLog';
import type { Chat } from './useChat';

/** A distance below this counts as the end. */
const endTolerancePx = 24;

interface Props {
  chat: Chat;
  connected: boolean;
  /** The field gets the focus when the chat opens. */
  focusField: boolean;
}

/** The messages and the composer. */
export function ChatView({ chat, connected, focusField }: Props): ReactElement {
  const { log, canWrite, draft, setDraft, send } = chat;
  const { entries } = log;
  const [replyTo, setReplyTo] = useState<ChatMessage | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const shown = useRef<readonly LogEntry[]>(entries);
  const [unseenCount, setUnseenCount] = useState(0);

  const scrollToEnd = (): void => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
    atEnd.current = true;
    setUnseenCount(0);
  };
  // A reader at the end stays at the end; a reader further up is not moved.
  useLayoutEffect(() => {
    const addedCount = newMessages(shown.current, entries).length;
    const own = entries !== shown.current && entries.at(-1);
    shown.current = entries;
    if (atEnd.current || (own && own.kind === 'message' && own.you)) scrollToEnd();
    else if (addedCount > 0) setUnseenCount((before) => before + addedCount);
  }, [entries]);
  // The keyboard of a phone covers the end of the list.
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) scrollToEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return (
    <div className="chat-view">
      <div
        ref={list}
        className="chat-scroll"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to be able to scroll it
        tabIndex={0}
        role="log"
        aria-label={t('chat.messages')}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < endTolerancePx;
          if (atEnd.current) setUnseenCount(0);
        }}
      >
        <p className="chat-about small quiet">{t('chat.about')}</p>
        <ol className="chat-lines">
          {entries.map((entry) =>
            entry.kind === 'message' ? (
              <ChatMessageItem
                key={entry.key}
                message={entry}
                quoted={findMessage(log, entry.replyTo)}
                onReply={canWrite ? setReplyTo : null}
              />
            ) : (
              <li key={entry.key} className="chat-divider small quiet">
                {t('chat.moved', { place: entry.roomName })}
              </li>
            ),
          )}
        </ol>
      </div>
      {unseenCount > 0 && (
        <button type="button" className="secondary chat-to-end" onClick={scrollToEnd}>
          {count('chat.new', unseenCount)}
        </button>
      )}
      {canWrite ? (
        <Composer
          text={draft}
          onText={setDraft}
          connected={connected}
          focusField={focusField}
          replyTo={replyTo}
          onCancelReply={() => setReplyTo(null)}
          onSend={async (text) => {
            const sent = await send(text, replyTo?.key ?? null);
            // The visitor may have chosen another message meanwhile.
            if (sent) setReplyTo((current) => (current === replyTo ? null : current));
            return sent;
          }}
        />
      ) : (
        <p className="chat-locked small quiet">{t('chat.locked')}</p>
      )}
    </div>
  );
}
