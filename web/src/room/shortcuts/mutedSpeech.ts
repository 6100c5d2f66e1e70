import { useEffect, useState } from 'react';
import type { MediaState } from '../../media/mediaState';
import { watchLevel } from '../../media/level';

const intervalMs = 150;
const speechLevel = 0.35;
const windowMs = 3_000;
const displayMs = 6_000;
/** Once is help, again and again is nagging. */
const minRepeatMs = 45_000;

/** Tells speech from a cough: three loud moments within three seconds. */
export class SpeechDetector {
  #loud: number[] = [];

  /** Whether somebody speaks, as of this moment. */
  isSpeaking(level: number, now: number): boolean {
    this.#loud = this.#loud.filter((moment) => now - moment < windowMs);
    if (level > speechLevel) this.#loud.push(now);
    return this.#loud.length >= 3;
  }
}

/**
 * Whether the visitor speaks although muted. Only a microphone that is open
 * anyway is listened to, by this page alone: nothing of it is sent or kept.
 */
export function useSpeakingWhileMuted({ mic, micOn }: MediaState, micAllowed: boolean): boolean {
  const [speaking, setSpeaking] = useState(false);
  const track = micAllowed && !micOn && mic.is === 'live' ? mic.track : null;
  useEffect(() => {
    if (!track) return;
    // The track that is sent is silenced; a copy of it still hears.
    const copy = track.clone();
    copy.enabled = true;
    const detector = new SpeechDetector();
    let shownAt = -Infinity;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = watchLevel(
      copy,
      (level) => {
        const now = performance.now();
        if (!detector.isSpeaking(level, now) || now - shownAt < minRepeatMs) return;
        shownAt = now;
        setSpeaking(true);
        timer = setTimeout(() => setSpeaking(false), displayMs);
      },
      intervalMs,
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
