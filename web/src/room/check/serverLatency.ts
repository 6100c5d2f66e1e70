const timeoutMs = 5_000;

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
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetch('/healthz', { cache: 'no-store', signal: abort.signal });
    return response.ok;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
