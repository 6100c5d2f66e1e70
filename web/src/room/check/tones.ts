/** Plays two tones on the selected speaker. */
export async function playTones(speaker: string): Promise<void> {
  const context = new AudioContext();
  // Not every browser can select a speaker.
  const contextWithSink = context as { setSinkId?: (id: string) => Promise<void> };
  if (speaker) await contextWithSink.setSinkId?.(speaker).catch(() => undefined);
  const [start, length] = [context.currentTime + 0.05, 0.35];
  const tones = [523, 784].map((frequency, i) => {
    const tone = new OscillatorNode(context, { frequency });
    const gainNode = new GainNode(context, { gain: 0 });
    tone.connect(gainNode).connect(context.destination);
    const at = start + i * length;
    // Fades in and out, because an abrupt change clicks.
    gainNode.gain.setValueAtTime(0, at);
    gainNode.gain.linearRampToValueAtTime(0.2, at + 0.05);
    gainNode.gain.linearRampToValueAtTime(0, at + length);
    tone.start(at);
    tone.stop(at + length);
    return tone;
  });
  tones.at(-1)?.addEventListener('ended', () => void context.close());
}
