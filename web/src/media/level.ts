const idle = () => undefined;

/**
 * Calls back with how loud the track is, 0 to 1, once a frame. Returns the way
 * to stop it.
 */
export function watchLevel(track: MediaStreamTrack, heard: (level: number) => void): () => void {
  if (typeof AudioContext !== 'function') return idle;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  const source = context.createMediaStreamSource(new MediaStream([track]));
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let frame = requestAnimationFrame(function measure() {
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    // Speech lies between -50 and -10 dB: that is the scale.
    const db = 10 * Math.log10(sum / samples.length + 1e-10);
    heard(Math.min(1, Math.max(0, (db + 50) / 40)));
    frame = requestAnimationFrame(measure);
  });
  // Browsers start it only after a gesture on the page.
  const wake = (): void => void context.resume().catch(idle);
  window.addEventListener('pointerdown', wake);
  window.addEventListener('keydown', wake);
  return () => {
    cancelAnimationFrame(frame);
    window.removeEventListener('pointerdown', wake);
    window.removeEventListener('keydown', wake);
    source.disconnect();
    void context.close().catch(idle);
  };
}
