import { useEffect, useState } from 'react';
import { watchLevel } from '../../media/level';
import type { MediaState } from '../../media/mediaState';

const intervalMs = 150;
const speechLevel = 0.35;
const windowMs = 3_000;
const displayMs = 6_000;
/** Repeating the hint too often would be annoying. */
const minRepeatMs = 45_000;

/** Distinguishes speech from a cough: three loud samples within three seconds. */
export class SpeechDetector {
  #loud: number[] = [];

  /** Adds a sample. Returns whether somebody is speaking. */
  isSpeaking(level: number, now: number): boolean {
    this.#loud = this.#loud.filter((moment) => now - moment < windowMs);
    if (level > speechLevel) this.#loud.push(now);
    return this.#loud.length >= 3;
  }
}

/**
 * Returns whether the visitor speaks while muted. It only uses a microphone that is open
 * anyway, and nothing is sent or stored.
 */
export function useSpeakingWhileMuted({ mic, micOn }: MediaState, micAllowed: boolean): boolean {
  const [speaking, setSpeaking] = useState(false);
  const track = micAllowed && !micOn && mic.is === 'live' ? mic.track : null;
  useEffect(() => {
    if (!track) return;
    // The published track is muted; a clone of it is not.
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
