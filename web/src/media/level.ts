const noop = () => undefined;

/**
 * Reports the level of a track, 0 to 1, once per frame or in this interval. Returns a
 * function that stops it.
 */
export function watchLevel(track: MediaStreamTrack, onLevel: (level: number) => void, intervalMs?: number): () => void {
  if (typeof AudioContext !== 'function') return noop;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  // About 10 ms per frame; with an interval, as many samples as fit between two measurements.
  analyser.fftSize = intervalMs === undefined ? 512 : 8_192;
  const source = context.createMediaStreamSource(new MediaStream([track]));
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const measure = (): void => {
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    // The scale covers speech, which lies between -50 and -10 dB.
    const db = 10 * Math.log10(sum / samples.length + 1e-10);
    onLevel(Math.min(1, Math.max(0, (db + 50) / 40)));
  };
  const stopMeasuring = repeat(measure, intervalMs);
  // Browsers start an audio context only after a gesture.
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
