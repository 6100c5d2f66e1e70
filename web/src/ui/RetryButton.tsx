import { type ReactElement, useEffect, useState } from 'react';
import { t } from '../messages';

/** If the response came too fast to be seen, the button would seem to do nothing. */
const minBusyMs = 500;

interface Props {
  busy: boolean;
  label: string;
  onPress: () => void;
}

/** Tries again, and shows that it does. */
export function RetryButton({ busy, label, onPress }: Props): ReactElement {
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    if (!pressed) return;
    const timer = setTimeout(() => setPressed(false), minBusyMs);
    return () => clearTimeout(timer);
  }, [pressed]);
  const isBusy = busy || pressed;
  return (
    <button
      type="button"
      className="primary"
      aria-disabled={isBusy}
      onClick={() => {
        if (isBusy) return;
        setPressed(true);
        onPress();
      }}
    >
      {isBusy ? t('refused.trying') : label}
    </button>
  );
}
