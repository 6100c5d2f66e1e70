import type { WebhookOptions, WebhookResponse } from './receiver.js';
import { cutOff, maxBody, notPost, tooLarge, WebhookReceiver } from './receiver.js';
import { readUpTo } from './response.js';

export type { WebhookOptions } from './receiver.js';
export type * from './types/events.js';
export type { HeaderSource, ReceivedWebhook, Secrets, SignedWebhook } from './webhookSignature.js';
export { signWebhook, verifyWebhook, verifyWebhookSignature } from './webhookSignature.js';

/**
 * Returns a handler of the fetch API for webhooks, such as Deno, Bun, Cloudflare Workers, Hono and the route handlers
 * of Next.js call. It responds with 204 after `onEvent`, 401 without a valid signature, 405 to another method than
 * POST, 413 to a body over 1 MiB, and 500 when `onEvent` throws. Throws InvalidArgumentError for options that cannot be
 * used.
 */
export function webhookHandler(options: WebhookOptions): (request: Request) => Promise<Response> {
  const receiver = new WebhookReceiver(options);
  return async (request) => toResponse(await receive(receiver, request));
}

async function receive(receiver: WebhookReceiver, request: Request): Promise<WebhookResponse> {
  if (request.method !== 'POST') return notPost;
  if (request.bodyUsed) return receiver.consumed('pass the request to the handler without reading its body.');
  const read = await readUpTo(request, maxBody).catch(() => null);
  if (!read) return cutOff;
  return read.complete ? receiver.receive(request.headers, read.body) : tooLarge;
}

function toResponse({ status, text }: WebhookResponse): Response {
  const headers = new Headers();
  if (text) headers.set('content-type', 'text/plain');
  if (status === notPost.status) headers.set('allow', 'POST');
  return new Response(text || null, { status, headers });
}
