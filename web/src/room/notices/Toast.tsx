import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { displayMs } from './toastTime';

interface Props {
  /** How many characters there are to read. */
  length?: number;
  /** It stays until the visitor hides it or the condition is over. */
  stays?: boolean;
  /** Called when the time is up and when the visitor hides it. */
  onEnd?: () => void;
  children: ReactNode;
}

/**
 * A notice that ends by itself. Its time stands still while the visitor points at it or
 * has the focus in it. Give it a new key when its text is a new one.
 */
export function Toast({ length = 0, stays = false, onEnd, children }: Props): ReactElement | null {
  const [ended, setEnded] = useState(false);
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const end = (): void => {
    setEnded(true);
    onEnd?.();
  };
  const paused = stays || pointed || focused || ended;
  useEffect(() => {
    if (paused) return;
    const timer = setTimeout(end, displayMs(length));
    return () => clearTimeout(timer);
  }, [paused]);
  if (ended) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: nothing is pressed here; the time only stands still
    <div
      className="toast dismissible"
      onMouseEnter={() => setPointed(true)}
      onMouseLeave={() => setPointed(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <div className="toast-text">{children}</div>
      <button type="button" className="round" aria-label={t('banner.dismiss')} onClick={end}>
        <Icon name="close" />
      </button>
    </div>
  );
}
