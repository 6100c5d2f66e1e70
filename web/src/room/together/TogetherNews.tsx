import { useEffect, useRef, useState, type ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { count, t } from '../../messages';
import type { Person } from '../person';
import { risen } from './hands';
import type { Reactions } from './reactions';
import { reactionName } from './words';

interface Props {
  people: readonly Person[];
  hands: readonly Person[];
  /** Is told of the hands of others. */
  runs: boolean;
  reactions: Reactions;
}

/** Reactions that come within that time are told of together. */
const together = 3_000;

/** Tells those who listen of hands and reactions, and not of every one. */
export function TogetherNews({ people, hands, runs, reactions }: Props): ReactElement {
  return (
    <>
      <HandNews hands={hands} runs={runs} />
      <ReactionNews people={people} reactions={reactions} />
    </>
  );
}

function HandNews({ hands, runs }: Pick<Props, 'hands' | 'runs'>): ReactElement {
  const [said, setSaid] = useState('');
  const before = useRef(hands);
  useEffect(() => {
    const was = before.current;
    before.current = hands;
    const up = hands.findIndex(({ you }) => you);
    const wasUp = was.some(({ you }) => you);
    const fresh = runs ? risen(was, hands) : [];
    const [first] = fresh;
    const sentences = [
      up >= 0 && !wasUp && t('hand.nowUp', { n: up + 1 }),
      up < 0 && wasUp && t('hand.nowDown'),
      first && (fresh.length > 1 ? count('hand.many', fresh.length) : t('hand.one', { name: first.name })),
    ].filter(Boolean);
    if (sentences.length > 0) setSaid(sentences.join(' '));
  }, [hands, runs]);
  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}

function ReactionNews({ people, reactions }: Pick<Props, 'people' | 'reactions'>): ReactElement {
  const shown = useStore(reactions);
  const [said, setSaid] = useState('');
  const told = useRef(0);
  const waiting = useRef<string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    for (const [identity, { reaction, key }] of shown) {
      const person = people.find((one) => one.identity === identity);
      if (key <= told.current || !person || person.you) continue;
      waiting.current.push(t('react.says', { name: person.name, reaction: reactionName(reaction) }));
    }
    told.current = Math.max(told.current, ...[...shown.values()].map(({ key }) => key));
    if (waiting.current.length === 0 || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      const sentences = waiting.current.splice(0);
      setSaid(sentences.length > 1 ? count('react.many', sentences.length) : (sentences[0] ?? ''));
    }, together);
  }, [shown, people]);
  // Another connection counts its reactions anew.
  useEffect(() => {
    told.current = 0;
  }, [reactions]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}
