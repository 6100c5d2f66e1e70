import { Preference } from '../../state/preference';
import { playTones, type Tones } from './tones';

/** Whether the page plays a tone when something happens. */
export const soundsOn = new Preference('parley.sounds', true);

/** Soft tones that are told apart by their melody. */
const sounds = {
  knock: { frequencies: [392, 392], length: 0.14, gain: 0.08 },
  hand: { frequencies: [523, 659, 784], length: 0.12, gain: 0.06 },
  message: { frequencies: [880], length: 0.18, gain: 0.05 },
} satisfies Record<string, Tones>;

export type Sound = keyof typeof sounds;

/** Several events of a kind in a short time make one sound. */
const minPauseMs = 1_500;
const lastPlayedAt = new Map<Sound, number>();

/** Plays a sound on the selected speaker, unless sounds are off. */
export function playSound(sound: Sound, speaker: string): void {
  const now = performance.now();
  if (!soundsOn.get() || now - (lastPlayedAt.get(sound) ?? -Infinity) < minPauseMs) return;
  lastPlayedAt.set(sound, now);
  // Without a gesture on the page the browser plays nothing, and nothing else depends on it.
  playTones(speaker, sounds[sound]).catch(() => undefined);
}
