import { useEffect, useState } from 'react';
import type { Desk } from '../../media/desk';
import { watchLevel } from '../../media/level';

const every = 150;
const audible = 0.35;
const within = 3_000;
const shownFor = 6_000;
/** Once is help, again and again is nagging. */
const again = 45_000;

/** Tells speech from a cough: three loud moments within three seconds. */
export class Ear {
  #loud: number[] = [];

  /** Whether somebody speaks, as of this moment. */
  hear(level: number, now: number): boolean {
    this.#loud = this.#loud.filter((moment) => now - moment < within);
    if (level > audible) this.#loud.push(now);
    return this.#loud.length >= 3;
  }
}

/**
 * Whether the visitor speaks although muted. Only a microphone that is open
 * anyway is listened to, by this page alone: nothing of it is sent or kept.
 */
export function useUnheard({ mic, micOn }: Desk, allowed: boolean): boolean {
  const [speaking, setSpeaking] = useState(false);
  const track = allowed && !micOn && mic.is === 'live' ? mic.track : null;
  useEffect(() => {
    if (!track) return;
    // The track that is sent is silenced; a copy of it still hears.
    const copy = track.clone();
    copy.enabled = true;
    const ear = new Ear();
    let toldAt = -Infinity;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = watchLevel(
      copy,
      (level) => {
        const now = performance.now();
        if (!ear.hear(level, now) || now - toldAt < again) return;
        toldAt = now;
        setSpeaking(true);
        timer = setTimeout(() => setSpeaking(false), shownFor);
      },
      every,
    );
    return () => {
      clearTimeout(timer);
      stop();
      copy.stop();
      setSpeaking(false);
    };
  }, [track]);
  return speaking;
}
