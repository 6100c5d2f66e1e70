import { memo, type ReactElement } from 'react';
import { t } from '../../messages';
import { formatTime } from '../../time/dateTime';
import { Disc } from '../../ui/Disc';
import { Icon } from '../../ui/Icon';
import { type ChatMessage, excerpt } from './chatLog';
import { Linkified } from './Linkified';

interface Props {
  message: ChatMessage;
  /** The message that it replies to, while the log still has it. */
  quoted: ChatMessage | null;
  /** Null when the visitor may not write. */
  onReply: ((message: ChatMessage) => void) | null;
}

/** The sender: you, a name, or "somebody" when the sender left before the page knew the name. */
const senderLabel = (message: ChatMessage): string => (message.you ? t('room.you') : message.name || t('chat.formerParticipant'));

/** One message. Only addresses in its text become links; nothing else is interpreted. */
export const ChatMessageItem = memo(function ChatMessageItem({ message, quoted, onReply }: Props): ReactElement {
  return (
    <li className="chat-line" data-own={message.you || undefined}>
      <p className="chat-head">
        {message.name && <Disc className="chat-face" identity={message.from} name={message.name} />}
        <bdi className="chat-name">{senderLabel(message)}</bdi>
        <time className="small quiet" dateTime={new Date(message.at).toISOString()}>
          {formatTime(message.at)}
        </time>
        {onReply && (
          <button
            type="button"
            className="chat-reply"
            aria-label={t('chat.replyTo', { name: senderLabel(message), text: excerpt(message.text, 40) })}
            onClick={() => onReply(message)}
          >
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
        <Linkified text={message.text} />
      </p>
    </li>
  );
});
