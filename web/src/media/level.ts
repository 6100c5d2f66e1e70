const noop = () => undefined;

/**
 * Calls back with how loud the track is, 0 to 1: once a frame, or after so many
 * milliseconds with how loud it was in between. Returns the way to stop it.
 */
export function watchLevel(track: MediaStreamTrack, onLevel: (level: number) => void, intervalMs?: number): () => void {
  if (typeof AudioContext !== 'function') return noop;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  // Some 10 ms; without a frame to show, as many as lie between two looks.
  analyser.fftSize = intervalMs === undefined ? 512 : 8_192;
  const source = context.createMediaStreamSource(new MediaStream([track]));
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const measure = (): void => {
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    // Speech lies between -50 and -10 dB: that is the scale.
    const db = 10 * Math.log10(sum / samples.length + 1e-10);
    onLevel(Math.min(1, Math.max(0, (db + 50) / 40)));
  };
  const stopMeasuring = repeat(measure, intervalMs);
  // Browsers start it only after a gesture on the page.
  const resume = (): void => void context.resume().catch(noop);
  window.addEventListener('pointerdown', resume);
  window.addEventListener('keydown', resume);
  return () => {
    stopMeasuring();
    window.removeEventListener('pointerdown', resume);
    window.removeEventListener('keydown', resume);
    source.disconnect();
    void context.close().catch(noop);
  };
}

function repeat(callback: () => void, intervalMs: number | undefined): () => void {
  if (intervalMs !== undefined) {
    const timer = setInterval(callback, intervalMs);
    return () => clearInterval(timer);
  }
  let frame = requestAnimationFrame(function nextFrame() {
    callback();
    frame = requestAnimationFrame(nextFrame);
  });
  return () => cancelAnimationFrame(frame);
}
