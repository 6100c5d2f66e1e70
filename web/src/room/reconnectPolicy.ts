import type { ReconnectContext, ReconnectPolicy } from 'livekit-client';

const giveUpAfterMs = 8_000;

/**
 * How LiveKit knocks while its signal is away: quickly, and not for long. After
 * that the page takes its seat again, which also works on a server that knows
 * nothing of the connection any more.
 */
export const quickReconnectPolicy: ReconnectPolicy = {
  nextRetryDelayInMs({ retryCount, elapsedMs }: ReconnectContext): number | null {
    if (elapsedMs > giveUpAfterMs) return null;
    return retryCount === 0 ? 100 * Math.random() : 300 + 200 * Math.random();
  },
};
