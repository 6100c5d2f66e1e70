/** Returns the best of three response times in milliseconds; null when the server does not respond. */
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
