import { memo, type ReactElement } from 'react';
import { formatTime } from '../../lib/dateTime';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { linkify } from './linkify';
import { excerpt, type ChatMessage } from './chatLog';

interface Props {
  message: ChatMessage;
  /** What it answers, while this page has it. */
  quoted: ChatMessage | null;
  /** Null where one cannot write. */
  onReply: ((message: ChatMessage) => void) | null;
}

/** Who is read: yourself, somebody with a name, or somebody who left before this page knew theirs. */
const senderLabel = (message: ChatMessage): string => (message.you ? t('room.you') : message.name || t('chat.somebody'));

/** One message. Its text is text; only addresses in it become links. */
export const ChatMessageItem = memo(function ChatMessageItem({ message, quoted, onReply }: Props): ReactElement {
  return (
    <li className="chat-line" data-own={message.you || undefined}>
      <p className="chat-head">
        <bdi className="chat-name">{senderLabel(message)}</bdi>
        <time className="small quiet" dateTime={new Date(message.at).toISOString()}>
          {formatTime(message.at)}
        </time>
        {onReply && (
          <button type="button" className="chat-reply" aria-label={t('chat.replyTo', { name: senderLabel(message), text: excerpt(message.text, 40) })} onClick={() => onReply(message)}>
            <Icon name="reply" />
          </button>
        )}
      </p>
      {message.replyTo !== null && (
        <p className="chat-quote small" dir="auto">
          <span className="sr-only">{t('chat.inReply')} </span>
          {quoted ? (
            <>
              <bdi>{senderLabel(quoted)}</bdi>: {excerpt(quoted.text, 120)}
            </>
          ) : (
            t('chat.notHere')
          )}
        </p>
      )}
      <p className="chat-text" dir="auto">
        {linkify(message.text).map(({ text, href, host }, i) =>
          href === undefined ? (
            text
          ) : (
            <a key={i} href={href} dir="ltr" target="_blank" rel="noopener noreferrer">
              {text}
              {host !== undefined && <span className="small quiet"> ({host})</span>}
            </a>
          ),
        )}
      </p>
    </li>
  );
});
