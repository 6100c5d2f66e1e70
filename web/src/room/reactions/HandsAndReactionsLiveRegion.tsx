import { type ReactElement, useEffect, useMemo, useRef } from 'react';
import { count, t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeetingPeople, useMembership } from '../meeting';
import { useAnnouncer } from '../notices/useAnnouncer';
import { newlyRaised } from './hands';
import { handText } from './handText';
import { reactionName } from './reactionName';

/** Reactions within this time are announced together. */
const batchMs = 3_000;

/** Live regions that announce hands and a summary of reactions. */
export function HandsAndReactionsLiveRegion(): ReactElement {
  return (
    <>
      <HandsLiveRegion />
      <ReactionsLiveRegion />
    </>
  );
}

function HandsLiveRegion(): ReactElement {
  const { isModerator } = useMembership();
  const { hands, handsElsewhere } = useMeetingPeople();
  const [text, announce] = useAnnouncer<string>((sentences) => sentences.join(' '));
  const all = useMemo(() => [...hands, ...handsElsewhere], [hands, handsElsewhere]);
  const before = useRef(all);
  useEffect(() => {
    const was = before.current;
    before.current = all;
    const ownIndex = hands.findIndex(({ you }) => you);
    const wasUp = was.some(({ you }) => you);
    const added = isModerator ? newlyRaised(was, all) : [];
    const [first] = added;
    const sentences = [
      ownIndex >= 0 && !wasUp && t('hand.nowUp', { n: ownIndex + 1 }),
      ownIndex < 0 && wasUp && t('hand.nowDown'),
      first && (added.length > 1 ? count('hand.many', added.length) : handText(first)),
    ].filter((sentence) => typeof sentence === 'string');
    announce(sentences);
  }, [hands, all, isModerator, announce]);
  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}

function ReactionsLiveRegion(): ReactElement {
  const { people, reactions } = useMeetingPeople();
  const shown = useStore(reactions);
  const [text, announce] = useAnnouncer<string>(
    (sentences) => (sentences.length > 1 ? count('react.many', sentences.length) : (sentences[0] ?? '')),
    batchMs,
  );
  const lastKey = useRef(0);
  useEffect(() => {
    const sentences: string[] = [];
    for (const [identity, reactions] of shown) {
      const person = people.find((entry) => entry.person.identity === identity)?.person;
      for (const { reaction, key } of reactions) {
        if (key <= lastKey.current || !person || person.you) continue;
        sentences.push(t('react.says', { name: person.name, reaction: reactionName(reaction) }));
      }
    }
    lastKey.current = Math.max(lastKey.current, ...[...shown.values()].flat().map(({ key }) => key));
    announce(sentences);
  }, [shown, people, announce]);
  // A new connection restarts the keys.
  useEffect(() => {
    lastKey.current = 0;
  }, [reactions]);
  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}
