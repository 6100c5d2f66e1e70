// Runs in a page before the page does, and notes when a visitor pressed, when
// another's sound was first heard and when another's picture was first shown,
// and some of what lies between, to see where the time goes.
// The pages know nothing of it.
(() => {
  const at = {};
  let done;
  globalThis.joining = new Promise((resolve) => (done = resolve));
  const note = (what, when = performance.now()) => {
    at[what] ??= when;
    if ('sound' in at && 'frame' in at) done(at);
  };

  addEventListener('click', (event) => note('press', event.timeStamp), true);

  const remote = new WeakSet();
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...configuration) {
      super(...configuration);
      this.addEventListener('track', ({ track }) => {
        remote.add(track);
        note(`${track.kind} is received`);
      });
    }
  };

  // Opened before, so that opening it costs no visit anything.
  const context = new AudioContext();
  function listen(track) {
    const meter = context.createAnalyser();
    meter.fftSize = 512;
    context.createMediaStreamSource(new MediaStream([track])).connect(meter);
    const samples = new Float32Array(meter.fftSize);
    const timer = setInterval(() => {
      meter.getFloatTimeDomainData(samples);
      if (!samples.some((sample) => Math.abs(sample) > 0.01)) return;
      note('sound');
      clearInterval(timer);
    }, 4);
  }

  const plain = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'srcObject');
  Object.defineProperty(HTMLMediaElement.prototype, 'srcObject', {
    ...plain,
    set(stream) {
      plain.set.call(this, stream);
      for (const track of stream?.getTracks() ?? []) {
        if (!remote.has(track)) continue;
        note(`${track.kind} has an element`);
        // Only what an element plays is heard: that is where the browser takes it from.
        if (track.kind === 'audio') listen(track);
        else this.requestVideoFrameCallback(() => note('frame'));
      }
    },
  });

  // Presses by itself, once there is something to press and it has been seen.
  if (globalThis.joiningAtOnce) {
    const seen = new MutationObserver(() => {
      const button = document.querySelector('button[type=submit]');
      if (!button) return;
      seen.disconnect();
      note('button');
      requestAnimationFrame(() => setTimeout(() => button.click()));
    });
    seen.observe(document, { childList: true, subtree: true });
  }
})();
