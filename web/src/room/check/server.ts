/** How quickly the server answers, in milliseconds: the best of three; null when it does not. */
export async function answerTime(ask: () => Promise<boolean> = healthy, now = () => performance.now()): Promise<number | null> {
  let best: number | null = null;
  for (let i = 0; i < 3; i++) {
    const asked = now();
    if (!(await ask())) return null;
    const took = now() - asked;
    if (best === null || took < best) best = took;
  }
  return best;
}

async function healthy(): Promise<boolean> {
  try {
    const answer = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(5_000) });
    return answer.ok;
  } catch {
    return false;
  }
}
