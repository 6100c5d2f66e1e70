import { type ReactElement, useEffect, useRef, useState } from 'react';
import { count, t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { useMeeting } from '../meeting';
import { Toast } from '../notices/Toast';
import { newlyRaised } from './hands';

/** Tells hosts that somebody raised a hand. It opens the list of people. Screen readers hear it from the live region. */
export function HandToast(): ReactElement | null {
  const { hands, isModerator, openSheet } = useMeeting();
  const [raises, setRaises] = useState(0);
  const before = useRef<typeof hands>([]);
  useEffect(() => {
    if (newlyRaised(before.current, hands).length > 0) setRaises((n) => n + 1);
    before.current = hands;
  }, [hands]);
  const others = hands.filter(({ you }) => !you);
  const [first] = others;
  if (!isModerator || !first || raises === 0) return null;
  return (
    <Toast key={raises}>
      <button type="button" className="toast-link" onClick={() => openSheet('people')}>
        <Icon name="hand" />
        <span>{others.length > 1 ? count('hand.many', others.length) : t('hand.one', { name: first.name })}</span>
      </button>
    </Toast>
  );
}
