import type { ReconnectContext, ReconnectPolicy } from 'livekit-client';

const giveUpAfterMs = 8_000;

/**
 * LiveKit retries the signal connection quickly and only for a short time. After that the
 * page takes its seat again, which also works after the server has lost all state of the
 * connection.
 */
export const quickReconnectPolicy: ReconnectPolicy = {
  nextRetryDelayInMs({ retryCount, elapsedMs }: ReconnectContext): number | null {
    if (elapsedMs > giveUpAfterMs) return null;
    return retryCount === 0 ? 100 * Math.random() : 300 + 200 * Math.random();
  },
};
