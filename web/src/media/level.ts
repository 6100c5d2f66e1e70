const idle = () => undefined;

/**
 * Calls back with how loud the track is, 0 to 1: once a frame, or after so many
 * milliseconds with how loud it was in between. Returns the way to stop it.
 */
export function watchLevel(track: MediaStreamTrack, heard: (level: number) => void, everyMs?: number): () => void {
  if (typeof AudioContext !== 'function') return idle;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  // Some 10 ms; without a frame to show, as many as lie between two looks.
  analyser.fftSize = everyMs === undefined ? 512 : 8_192;
  const source = context.createMediaStreamSource(new MediaStream([track]));
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const measure = (): void => {
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    // Speech lies between -50 and -10 dB: that is the scale.
    const db = 10 * Math.log10(sum / samples.length + 1e-10);
    heard(Math.min(1, Math.max(0, (db + 50) / 40)));
  };
  const halt = repeat(measure, everyMs);
  // Browsers start it only after a gesture on the page.
  const wake = (): void => void context.resume().catch(idle);
  window.addEventListener('pointerdown', wake);
  window.addEventListener('keydown', wake);
  return () => {
    halt();
    window.removeEventListener('pointerdown', wake);
    window.removeEventListener('keydown', wake);
    source.disconnect();
    void context.close().catch(idle);
  };
}

function repeat(act: () => void, everyMs: number | undefined): () => void {
  if (everyMs !== undefined) {
    const timer = setInterval(act, everyMs);
    return () => clearInterval(timer);
  }
  let frame = requestAnimationFrame(function again() {
    act();
    frame = requestAnimationFrame(again);
  });
  return () => cancelAnimationFrame(frame);
}
