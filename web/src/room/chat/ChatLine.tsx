import { memo, type ReactElement } from 'react';
import { timeOfDay } from '../../lib/moment';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { linkify } from './linkify';
import { beginning, type Line } from './log';

interface Props {
  line: Line;
  /** What it answers, while this page has it. */
  answers: Line | null;
  /** Null where one cannot write. */
  onReply: ((line: Line) => void) | null;
}

/** Who is read: yourself, somebody with a name, or somebody who left before this page knew theirs. */
const whoOf = (line: Line): string => (line.you ? t('room.you') : line.name || t('chat.somebody'));

/** One message. Its text is text; only addresses in it become links. */
export const ChatLine = memo(function ChatLine({ line, answers, onReply }: Props): ReactElement {
  return (
    <li className="chat-line" data-own={line.you || undefined}>
      <p className="chat-head">
        <bdi className="chat-name">{whoOf(line)}</bdi>
        <time className="small quiet" dateTime={new Date(line.at).toISOString()}>
          {timeOfDay(line.at)}
        </time>
        {onReply && (
          <button type="button" className="chat-reply" aria-label={t('chat.replyTo', { name: whoOf(line), text: beginning(line.text, 40) })} onClick={() => onReply(line)}>
            <Icon name="reply" />
          </button>
        )}
      </p>
      {line.replyTo !== null && (
        <p className="chat-quote small" dir="auto">
          <span className="sr-only">{t('chat.inReply')} </span>
          {answers ? (
            <>
              <bdi>{whoOf(answers)}</bdi>: {beginning(answers.text, 120)}
            </>
          ) : (
            t('chat.notHere')
          )}
        </p>
      )}
      <p className="chat-text" dir="auto">
        {linkify(line.text).map(({ text, href, host }, i) =>
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
