import { type Dispatch, type KeyboardEvent, type ReactElement, type SetStateAction, useId, useLayoutEffect, useRef, useState } from 'react';
import { count, t } from '../../messages';
import { isComposing } from '../../ui/composition';
import { Icon } from '../../ui/Icon';
import type { ChatMessage } from './chatLog';
import { excerpt } from './chatLog';
import { lengthOf, maxTextLength, normalizeText } from './packet';

interface Props {
  text: string;
  onText: Dispatch<SetStateAction<string>>;
  connected: boolean;
  /** The field gets the focus when it appears. */
  focusField: boolean;
  replyTo: ChatMessage | null;
  onSend: (text: string) => Promise<boolean>;
  onCancelReply: () => void;
}

/** From this length on, the remaining characters are shown. */
const showRemainingFrom = maxTextLength - 200;

/** The input for a message. Enter sends, Shift+Enter starts a new line. */
export function Composer({ text, onText, connected, focusField, replyTo, onSend, onCancelReply }: Props): ReactElement {
  const [sending, setSending] = useState(false);
  const [sendFailed, setSendFailed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const length = lengthOf(normalizeText(text));
  const excess = length - maxTextLength;

  // In a layout effect, because phones open the keyboard only during the gesture.
  const focusNow = useRef(focusField);
  useLayoutEffect(() => {
    if (focusNow.current) field.current?.focus();
    focusNow.current = true;
  }, [replyTo]);

  const send = async (): Promise<void> => {
    if (sending || !connected || length === 0 || excess > 0) return;
    setSending(true);
    const sent = await onSend(text);
    setSending(false);
    setSendFailed(!sent);
    // The visitor may have written more meanwhile.
    if (sent) onText((current) => (current === text ? '' : current));
  };
  const onKey = (event: KeyboardEvent): void => {
    // During composition, Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    void send();
  };
  const hint =
    excess > 0
      ? count('chat.tooLong', excess)
      : !connected
        ? t('chat.disconnected')
        : sendFailed
          ? t('chat.unsent')
          : length > showRemainingFrom
            ? count('chat.left', maxTextLength - length)
            : '';
  return (
    <form
      className="chat-composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {replyTo && (
        <p className="chat-replying small">
          <span className="chat-quote">
            {t('chat.replyingTo', { name: replyTo.you ? t('room.you') : replyTo.name })} {excerpt(replyTo.text, 80)}
          </span>
          <button type="button" className="round" aria-label={t('chat.noReply')} onClick={onCancelReply}>
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
        aria-invalid={excess > 0 || undefined}
        aria-describedby={`${id}-said`}
        onChange={(event) => {
          onText(event.target.value);
          setSendFailed(false);
        }}
        onKeyDown={onKey}
      />
      <button type="submit" className="primary" aria-disabled={length === 0 || excess > 0 || !connected || undefined}>
        {t('chat.send')}
      </button>
      <p id={`${id}-said`} role="status" className={excess > 0 || sendFailed ? 'chat-status small wrong' : 'chat-status small quiet'}>
        {hint}
      </p>
    </form>
  );
}
