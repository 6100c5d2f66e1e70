import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Waiting } from '../../api/client';
import type { LocalMedia } from '../../media/localMedia';
import { deviceInUse } from '../../media/mediaState';
import { formatNumber } from '../../messages';
import { newlyRaised } from '../reactions/hands';
import { notifyKnock } from './knockNotification';
import { playSound, type Sound } from './sounds';

interface Happening {
  /** The title of the room. */
  title: string;
  unread: number;
  waiting: readonly Waiting[];
  hands: readonly { identity: string; name: string; you: boolean }[];
  isModerator: boolean;
  localMedia: LocalMedia;
}

/** Makes knocks, raised hands and messages noticeable to a visitor who looks at something else. */
export function useAlerts({ title, unread, waiting, hands, isModerator, localMedia }: Happening): void {
  const hidden = useHidden();
  const play = (sound: Sound): void => playSound(sound, deviceInUse(localMedia.state.get(), 'speaker'));

  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const [first] = waiting.filter(({ identity }) => !known.current.has(identity));
    known.current = new Set(waiting.map(({ identity }) => identity));
    if (!first) return;
    play('knock');
    if (document.hidden) notifyKnock(title, first.name);
  }, [waiting]);

  const handsBefore = useRef(hands);
  useEffect(() => {
    if (isModerator && newlyRaised(handsBefore.current, hands).length > 0) play('hand');
    handsBefore.current = hands;
  }, [hands, isModerator]);

  const unreadBefore = useRef(unread);
  useEffect(() => {
    if (unread > unreadBefore.current) play('message');
    unreadBefore.current = unread;
  }, [unread]);

  const missed = hidden ? unread + waiting.length : 0;
  useEffect(() => {
    if (missed === 0) return;
    document.title = `(${formatNumber(missed)}) ${title}`;
    return () => {
      document.title = title;
    };
  }, [missed, title]);
}

/** Returns whether the page is in the background. */
const useHidden = (): boolean => useSyncExternalStore(subscribeVisibility, () => document.hidden);

function subscribeVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}
