/** How quickly the server answers, in milliseconds: the best of three; null when it does not. */
export async function serverLatency(check: () => Promise<boolean> = isHealthy, now = () => performance.now()): Promise<number | null> {
  let best: number | null = null;
  for (let i = 0; i < 3; i++) {
    const startedAt = now();
    if (!(await check())) return null;
    const elapsed = now() - startedAt;
    if (best === null || elapsed < best) best = elapsed;
  }
  return best;
}

async function isHealthy(): Promise<boolean> {
  try {
    const answer = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(5_000) });
    return answer.ok;
  } catch {
    return false;
  }
}
