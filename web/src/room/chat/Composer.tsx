import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import { count, t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { Line } from './log';
import { beginning } from './log';
import { lengthOf, maxText, tidy } from './packet';

interface Props {
  connected: boolean;
  replyTo: Line | null;
  onSend: (text: string) => Promise<boolean>;
  onNoReply: () => void;
}

/** From here on the writer is told how much is left. */
const nearly = maxText - 200;

/** Where one writes. Enter sends, with Shift it begins a new line. */
export function Composer({ connected, replyTo, onSend, onNoReply }: Props): ReactElement {
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  const [unsent, setUnsent] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const length = lengthOf(tidy(text));
  const over = length - maxText;

  // At once: phones open their keyboard only within what the finger did.
  useLayoutEffect(() => field.current?.focus(), [replyTo]);

  const send = async (): Promise<void> => {
    if (sending || !connected || length === 0 || over > 0) return;
    setSending(true);
    const sent = await onSend(text);
    setSending(false);
    setUnsent(!sent);
    if (sent) setText('');
  };
  const onKey = (event: KeyboardEvent): void => {
    // While letters are put together, Enter belongs to them.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const said =
    over > 0
      ? count('chat.tooLong', over)
      : !connected
        ? t('chat.away')
        : unsent
          ? t('chat.unsent')
          : length > nearly
            ? count('chat.left', maxText - length)
            : '';
  return (
    <form
      className="chat-write"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {replyTo && (
        <p className="chat-answering small">
          <span className="chat-quote">
            {t('chat.replyingTo', { name: replyTo.you ? t('room.you') : replyTo.name })} {beginning(replyTo.text, 80)}
          </span>
          <button type="button" className="round" aria-label={t('chat.noReply')} onClick={onNoReply}>
            <Icon name="close" />
          </button>
        </p>
      )}
      <label className="sr-only" htmlFor={id}>
        {t('chat.message')}
      </label>
      <textarea
        ref={field}
        id={id}
        rows={Math.min(4, text.split('\n').length)}
        dir="auto"
        placeholder={t('chat.message')}
        value={text}
        aria-invalid={over > 0 || undefined}
        aria-describedby={`${id}-said`}
        onChange={(event) => {
          setText(event.target.value);
          setUnsent(false);
        }}
        onKeyDown={onKey}
      />
      <button type="submit" className="primary" aria-disabled={length === 0 || over > 0 || !connected || undefined}>
        {t('chat.send')}
      </button>
      <p id={`${id}-said`} role="status" className={over > 0 || unsent ? 'chat-said small wrong' : 'chat-said small quiet'}>
        {said}
      </p>
    </form>
  );
}
