import { useEffect, useState, type ReactElement } from 'react';
import { t } from '../messages';

/** An answer that comes too quickly to be seen looks like a button that does nothing. */
const leastBusy = 500;

interface Props {
  busy: boolean;
  label: string;
  onPress: () => void;
}

/** Tries again, and shows that it does. */
export function AgainButton({ busy, label, onPress }: Props): ReactElement {
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    if (!pressed) return;
    const timer = setTimeout(() => setPressed(false), leastBusy);
    return () => clearTimeout(timer);
  }, [pressed]);
  const working = busy || pressed;
  return (
    <button
      type="button"
      className="primary"
      aria-disabled={working}
      onClick={() => {
        if (working) return;
        setPressed(true);
        onPress();
      }}
    >
      {working ? t('refused.trying') : label}
    </button>
  );
}
