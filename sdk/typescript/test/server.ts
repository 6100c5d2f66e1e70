import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { ClientOptions } from '@parley/sdk';
import { ParleyClient } from '@parley/sdk';

export const projectId = '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10';
export const roomId = '0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71';
export const projectSecret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
export const apiKey = 'pk_0000TestKeyDoNotUse00000000000';
export const gatewaySecret = 'gs_0000TestSecretDoNotUse0000000000000000000000';

export const credentials = {
  project_id: projectId,
  project_secret: projectSecret,
  api_key: apiKey,
  gateway_secret: gatewaySecret,
};

export const quickRoom = {
  name: 'Zoë',
  max_participants: 10,
  empty_timeout: 300,
  metadata: { room_title: 'Standup', welcome_message: '' },
};

/** A request as the server received it. */
export interface Received {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What the server responds with: a status, a value that becomes JSON or a text, and headers. */
export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> };

/** A listener of requests that decides on each response. It may also respond itself and return nothing. */
export type Script = (request: Received, response: ServerResponse, number: number) => Reply | undefined;

/** Starts an HTTP server on 127.0.0.1 that ends with the test. */
export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server and a client of it. Without a request ID in its headers, a reply gets `req_` and its number. */
export async function connect(t: TestContext, script: Script, options: Partial<ClientOptions> = {}) {
  const requests: Received[] = [];
  const base_url = await listen(t, async (incoming, response) => {
    const received = await receive(incoming);
    requests.push(received);
    const reply = script(received, response, requests.length);
    if (reply) send(response, { ...reply, headers: { 'X-Request-ID': `req_${requests.length}`, ...reply.headers } });
  });
  return { client: new ParleyClient({ base_url, ...credentials, ...options }), requests, base_url };
}

async function receive(request: IncomingMessage): Promise<Received> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return { method: request.method ?? '', target: request.url ?? '', headers: request.headers, body };
}

function send(response: ServerResponse, { status = 200, body = {}, headers }: Reply): void {
  response.writeHead(status, headers);
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Returns the error with which a promise rejects. */
export async function rejection<Kind extends Error>(
  promise: Promise<unknown>,
  kind: abstract new (...values: never[]) => Kind,
): Promise<Kind> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`got the result ${JSON.stringify(value)}, want ${kind.name}`);
}
