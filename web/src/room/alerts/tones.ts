export interface Tones {
  /** In hertz, one after the other. */
  frequencies: readonly number[];
  /** The length of each, in seconds. */
  length: number;
  /** The volume, 0 to 1. */
  gain: number;
}

export const testTones: Tones = { frequencies: [523, 784], length: 0.35, gain: 0.2 };

/** Plays tones on the selected speaker. */
export async function playTones(speaker: string, { frequencies, length, gain }: Tones): Promise<void> {
  const context = new AudioContext();
  // Not every browser can select a speaker.
  const contextWithSink = context as { setSinkId?: (id: string) => Promise<void> };
  if (speaker) await contextWithSink.setSinkId?.(speaker).catch(() => undefined);
  const start = context.currentTime + 0.05;
  const tones = frequencies.map((frequency, i) => {
    const tone = new OscillatorNode(context, { frequency });
    const gainNode = new GainNode(context, { gain: 0 });
    tone.connect(gainNode).connect(context.destination);
    const at = start + i * length;
    // Fades in and out, because an abrupt change clicks.
    gainNode.gain.setValueAtTime(0, at);
    gainNode.gain.linearRampToValueAtTime(gain, at + 0.05);
    gainNode.gain.linearRampToValueAtTime(0, at + length);
    tone.start(at);
    tone.stop(at + length);
    return tone;
  });
  tones.at(-1)?.addEventListener('ended', () => void context.close());
}
