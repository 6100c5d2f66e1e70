import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { count } from '../../messages';
import { Icon } from '../../ui/Icon';
import { useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import { Toast } from '../notices/Toast';
import { newlyRaised } from './hands';
import { handText } from './handText';

/** Tells hosts that somebody raised a hand. It opens the list of people. Screen readers hear it from the live region. */
export function HandToast(): ReactElement | null {
  const { isModerator } = useMembership();
  const { hands, handsElsewhere } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  const [raises, setRaises] = useState(0);
  const others = useMemo(() => [...hands.filter(({ you }) => !you), ...handsElsewhere], [hands, handsElsewhere]);
  const before = useRef<typeof others>([]);
  useEffect(() => {
    if (newlyRaised(before.current, others).length > 0) setRaises((n) => n + 1);
    before.current = others;
  }, [others]);
  const [first] = others;
  if (!isModerator || !first || raises === 0) return null;
  return (
    <Toast key={raises}>
      <button type="button" className="toast-link" onClick={() => openSheet('people')}>
        <Icon name="hand" />
        <span>{others.length > 1 ? count('hand.many', others.length) : handText(first)}</span>
      </button>
    </Toast>
  );
}
