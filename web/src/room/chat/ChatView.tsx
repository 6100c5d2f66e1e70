import { useEffect, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { count, t } from '../../messages';
import { ChatLine } from './ChatLine';
import { Composer } from './Composer';
import { answered, since, type Entry, type Line } from './log';
import type { Chat } from './useChat';

/** So near to the end counts as there. */
const nearEnd = 24;

/** What was written, and where one writes. */
export function ChatView({ chat, connected }: { chat: Chat; connected: boolean }): ReactElement {
  const { log, mayWrite, send } = chat;
  const { entries } = log;
  const [replyTo, setReplyTo] = useState<Line | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const shown = useRef<readonly Entry[]>(entries);
  const [below, setBelow] = useState(0);

  const toEnd = (): void => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
    atEnd.current = true;
    setBelow(0);
  };
  // Whoever reads further up stays there; whoever is at the end stays at the end.
  useLayoutEffect(() => {
    const fresh = since(shown.current, entries).length;
    const own = entries !== shown.current && entries.at(-1);
    shown.current = entries;
    if (atEnd.current || (own && own.kind === 'line' && own.you)) toEnd();
    else if (fresh > 0) setBelow((before) => before + fresh);
  }, [entries]);
  // The keyboard of a phone takes its place from the end.
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  return (
    <div className="chat-view">
      <div
        ref={list}
        className="chat-scroll"
        // Also for those who scroll with keys.
        tabIndex={0}
        role="log"
        aria-label={t('chat.messages')}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
          if (atEnd.current) setBelow(0);
        }}
      >
        <p className="chat-about small quiet">{t('chat.about')}</p>
        <ol className="chat-lines">
          {entries.map((entry) =>
            entry.kind === 'line' ? (
              <ChatLine key={entry.key} line={entry} answers={answered(log, entry.replyTo)} onReply={mayWrite ? setReplyTo : null} />
            ) : (
              <li key={entry.key} className="chat-crossing small quiet">
                {t('chat.crossing', { place: entry.place })}
              </li>
            ),
          )}
        </ol>
      </div>
      {below > 0 && (
        <button type="button" className="secondary chat-below" onClick={toEnd}>
          {count('chat.new', below)}
        </button>
      )}
      {mayWrite ? (
        <Composer
          connected={connected}
          replyTo={replyTo}
          onNoReply={() => setReplyTo(null)}
          onSend={async (text) => {
            const sent = await send(text, replyTo?.key ?? null);
            if (sent) setReplyTo(null);
            return sent;
          }}
        />
      ) : (
        <p className="chat-locked small quiet">{t('chat.locked')}</p>
      )}
    </div>
  );
}
