import type { RawBody } from './encoding.js';
import { InvalidArgumentError, InvalidSignatureError } from './errors.js';
import type { WebhookEvent } from './types/events.js';
import type { HeaderSource, Secrets } from './webhookSignature.js';
import { checkSecrets, checkTolerance, defaultTolerance, verifyWebhook } from './webhookSignature.js';

/** How a handler treats webhooks. */
export interface WebhookOptions {
  /** The project secrets that are accepted, as shown: one, or several during a rotation. */
  secrets: Secrets;
  /**
   * Receives each verified event. The response is 204 when it returns, and 500 when it throws, so that Parley sends the
   * event again. The same event can arrive twice, with the same `id`. Return within 15 seconds.
   */
  onEvent: (event: WebhookEvent) => void | Promise<void>;
  /** Receives what `onEvent` threw, and mistakes in the setup. By default they are written with console.error. */
  onError?: ((error: unknown) => void) | undefined;
  /** How far the timestamp of a webhook may be from now, in seconds. 300 by default. */
  tolerance?: number | undefined;
}

/** A response to a webhook: a status, and a text that says why a webhook was not accepted. */
export interface WebhookResponse {
  status: number;
  text: string;
}

/** The maximum size of a webhook in bytes. */
export const maxBody = 1024 * 1024;

export const notPost: WebhookResponse = { status: 405, text: 'a webhook is a POST' };
export const tooLarge: WebhookResponse = { status: 413, text: 'the body must not be larger than 1 MiB' };
export const cutOff: WebhookResponse = { status: 400, text: 'the body could not be read to its end' };

/** Verifies webhooks and passes their events on. */
export class WebhookReceiver {
  readonly #options: WebhookOptions;

  /** Throws InvalidArgumentError for options that cannot be used. */
  constructor(options: WebhookOptions) {
    const { secrets, onEvent, tolerance = defaultTolerance } = options;
    checkSecrets(secrets);
    checkTolerance(tolerance);
    if (typeof onEvent !== 'function') throw new InvalidArgumentError({ message: 'onEvent must be a function' });
    this.#options = options;
  }

  /** Returns the response to a webhook. */
  async receive(headers: HeaderSource, body: RawBody): Promise<WebhookResponse> {
    const { secrets, tolerance, onEvent } = this.#options;
    let event: WebhookEvent;
    try {
      event = await verifyWebhook({ secrets, headers, body, tolerance });
    } catch (error) {
      if (error instanceof InvalidSignatureError) return { status: 401, text: error.message };
      return this.fail(error, 'the webhook could not be verified');
    }
    try {
      await onEvent(event);
    } catch (error) {
      return this.fail(error, 'the event could not be processed');
    }
    return { status: 204, text: '' };
  }

  /** Reports an error and returns the response for it. The text is public. */
  fail(error: unknown, text: string): WebhookResponse {
    const { onError = console.error } = this.#options;
    onError(error);
    return { status: 500, text };
  }

  /** Returns the response to a webhook whose body was read before, which makes a check of its signature impossible. */
  consumed(advice: string): WebhookResponse {
    const message = `the raw body of the webhook is gone, because something has read it before: ${advice}`;
    return this.fail(new InvalidArgumentError({ message }), message);
  }
}
