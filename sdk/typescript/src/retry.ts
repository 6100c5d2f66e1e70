import {
  ConflictError,
  ConnectionError,
  type ParleyError,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError,
} from './errors.js';
import type { Call } from './transport.js';

// All in milliseconds.
const firstWait = 250;
const maxWait = 30_000;
/** The resolution of the signed timestamp. A smaller correction of the clock would sign the same timestamp again. */
const minCorrection = 1000;

/** A call and how to send it. */
export interface Attempts<Result> {
  call: Call;
  signal: AbortSignal | undefined;
  maxAttempts: number;
  /** Returns how many milliseconds the clock of the server is ahead. */
  clockOffset: () => number;
  /** Sends the call once. `number` is the number of the attempt, from 1. */
  attempt: (number: number, offset: number) => Promise<Result>;
}

/** Sends a call until it succeeds or must not be repeated. */
export async function withRetries<Result>(attempts: Attempts<Result>): Promise<Result> {
  const { call, signal, maxAttempts, clockOffset, attempt } = attempts;
  const began = performance.now();
  let corrected = false;
  for (let number = 1; ; number++) {
    const offset = clockOffset();
    let error: unknown;
    try {
      return await attempt(number, offset);
    } catch (caught) {
      error = caught;
    }
    const correction = Math.abs(clockOffset() - offset);
    if (error instanceof UnauthorizedError && call.signer === 'gateway' && !corrected && correction >= minCorrection) {
      corrected = true;
      continue;
    }
    const counted = corrected ? number - 1 : number;
    if (counted >= maxAttempts || !call.repeatable || !isRetryable(call, error)) throw error;
    const wait = waitAfter(counted, error);
    const elapsed = performance.now() - began;
    if (wait > maxWait || (call.retryWindow !== undefined && elapsed + wait > call.retryWindow)) throw error;
    await sleep(wait, signal);
  }
}

/** Reports whether the same request may succeed a moment later. */
function isRetryable(call: Call, error: unknown): error is ParleyError {
  if (error instanceof ConnectionError) return !isCertificateError(error);
  if (error instanceof ConflictError) return call.idempotencyKey !== undefined && (error.retry_after ?? 0) > 0;
  return error instanceof RateLimitedError || error instanceof UnavailableError;
}

/** Reports whether TLS refused the certificate of the server, which the next attempt would do, too. */
function isCertificateError({ message, cause }: ConnectionError): boolean {
  const { code, cause: deeper } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return message.includes('peer certificate') || /CERT|VERIFY/.test(`${code} ${deeper?.code}`);
}

/** Returns the wait after an attempt in milliseconds. */
function waitAfter(attempt: number, error: ParleyError): number {
  const full = Math.min(firstWait * 2 ** (attempt - 1), maxWait);
  const wait = full / 2 + Math.random() * (full / 2);
  if (!error.retry_after) return wait;
  // The jitter spreads clients that were refused at the same time.
  return Math.max(wait, error.retry_after * 1000 + Math.random() * firstWait);
}

/** Waits. Rejects with the reason of the signal when it is aborted. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
