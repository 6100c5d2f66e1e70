import type { RawBody } from './encoding.js';
import { bytesOf, concatenate } from './encoding.js';
import type { WebhookOptions, WebhookResponse } from './receiver.js';
import { cutOff, maxBody, notPost, tooLarge, WebhookReceiver } from './receiver.js';

export type { WebhookOptions } from './receiver.js';
export type * from './types/events.js';

/** What the middleware reads of a request of Express, or of node:http. */
export interface ExpressRequest {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What another parser made of the body. The middleware uses it only if it is the raw bytes or the raw text. */
  body?: unknown;
  /** The raw bytes, which some platforms provide besides the parsed body. */
  rawBody?: unknown;
  /** Whether somebody has read from the request. */
  readableDidRead?: boolean;
  on(event: 'data', listener: (chunk: RawBody) => void): unknown;
  on(event: 'end' | 'error' | 'close', listener: () => void): unknown;
  pause(): unknown;
}

/** What the middleware uses of a response of Express, or of node:http. */
export interface ExpressResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text?: string): unknown;
}

/** Middleware of Express. It always responds, and calls no next handler. */
export type WebhookMiddleware = (request: ExpressRequest, response: ExpressResponse) => Promise<void>;

const advice =
  'mount the middleware for webhooks before express.json() and other parsers, ' +
  "or use express.raw({ type: '*/*' }) on its path.";

/**
 * Returns middleware of Express for webhooks, which is also a listener of node:http. It reads the raw body itself, or
 * takes it from express.raw(), express.text() or `rawBody`. It responds with 204 after `onEvent`, 401 without a valid
 * signature, 405 to another method than POST, 413 to a body over 1 MiB, and 500 when `onEvent` throws or when another
 * parser has consumed the body. Throws InvalidArgumentError for options that cannot be used.
 */
export function webhookMiddleware(options: WebhookOptions): WebhookMiddleware {
  const receiver = new WebhookReceiver(options);
  return async (request, response) => {
    const { status, text } = await receive(receiver, request);
    response.statusCode = status;
    if (status === notPost.status) response.setHeader('allow', 'POST');
    // The rest of the body is not read, so the connection cannot be used again.
    if (status === tooLarge.status) response.setHeader('connection', 'close');
    if (text) response.setHeader('content-type', 'text/plain');
    response.end(text);
  };
}

async function receive(receiver: WebhookReceiver, request: ExpressRequest): Promise<WebhookResponse> {
  if (request.method !== 'POST') return notPost;
  const { headers } = request;
  for (const raw of [request.rawBody, request.body]) {
    if (isRaw(raw)) return receiver.receive(headers, raw);
  }
  if (request.readableDidRead) return receiver.consumed(advice);
  const read = await readRaw(request);
  return isRaw(read) ? receiver.receive(headers, read) : read;
}

function isRaw(body: unknown): body is RawBody {
  return typeof body === 'string' || ArrayBuffer.isView(body);
}

/** Reads the body, or returns the response to a body that cannot be read. */
function readRaw(request: ExpressRequest): Promise<Uint8Array | WebhookResponse> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on('data', (chunk) => {
      const bytes = bytesOf(chunk);
      size += bytes.byteLength;
      if (size <= maxBody) {
        chunks.push(bytes);
        return;
      }
      request.pause();
      resolve(tooLarge);
    });
    request.on('end', () => resolve(concatenate(chunks)));
    request.on('error', () => resolve(cutOff));
    request.on('close', () => resolve(cutOff)); // of no effect after the end
  });
}
