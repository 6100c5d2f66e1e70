import { type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { displayMs } from './toastTime';

// On touch screens an element counts as hovered until another one is touched.
const inUse = matchMedia('(hover: hover)').matches ? ':hover, :focus-within' : ':focus-within';
const inUseRetryMs = 1_000;

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
 * A notice that ends by itself, but not while the visitor points at it or has the focus in
 * it. Give it a new key when its text is a new one.
 */
export function Toast({ length = 0, stays = false, onEnd, children }: Props): ReactElement | null {
  const [ended, setEnded] = useState(false);
  const toast = useRef<HTMLDivElement>(null);
  const end = (): void => {
    setEnded(true);
    onEnd?.();
  };
  const latestEnd = useRef(end);
  latestEnd.current = end;
  useEffect(() => {
    if (stays || ended) return;
    let timer = setTimeout(function endUnlessInUse() {
      if (toast.current?.matches(inUse)) timer = setTimeout(endUnlessInUse, inUseRetryMs);
      else latestEnd.current();
    }, displayMs(length));
    return () => clearTimeout(timer);
  }, [stays, ended, length]);
  if (ended) return null;
  return (
    <div ref={toast} className="toast dismissible">
      <div className="toast-text">{children}</div>
      <button type="button" className="round" aria-label={t('toast.dismiss')} onClick={end}>
        <Icon name="close" />
      </button>
    </div>
  );
}
