/** Milliseconds between two looks at the elements. The page plays again within two seconds. */
const lookMs = 1_000;

/** The elements that should play, and how each is started. */
const elements = new Map<HTMLMediaElement, () => Promise<unknown>>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Keeps a media element playing while the page is visible. The system pauses elements when
 * headphones are unplugged, at a media key, during a phone call, and nothing else restarts them.
 * `play` starts the element and may fail. Returns a function that ends this.
 */
export function keepPlaying(element: HTMLMediaElement, play: () => Promise<unknown> = () => element.play()): () => void {
  elements.set(element, play);
  restart(element, play);
  if (timer === undefined) {
    timer = setInterval(restartAll, lookMs);
    document.addEventListener('visibilitychange', restartAll);
  }
  return () => {
    elements.delete(element);
    if (elements.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    document.removeEventListener('visibilitychange', restartAll);
  };
}

function restartAll(): void {
  if (document.hidden) return;
  for (const [element, play] of elements) restart(element, play);
}

function restart(element: HTMLMediaElement, play: () => Promise<unknown>): void {
  // An element without a source has nothing to play.
  if (element.paused && element.srcObject) void play().catch(() => undefined);
}
