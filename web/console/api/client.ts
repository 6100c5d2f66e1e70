import type { components, paths } from './schema.gen';

export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never }[keyof paths];
type Operation<P extends keyof paths, M extends Method> = Extract<paths[P][M], { responses: unknown }>;

type OkBody<O> = O extends { responses: { 200: { content: { 'application/json': infer R } } } } ? R : undefined;
type Parameters<O> = O extends { parameters: { path: infer V; query?: infer Q } }
  ? { path: V; query?: NonNullable<Q> }
  : O extends { parameters: { query?: infer Q } }
    ? { query?: NonNullable<Q> }
    : object;
type Sent<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { body?: B }
    : object;

export type ResponseOf<P extends keyof paths, M extends Method = 'get'> = OkBody<Operation<P, M>>;
/** The query, the parameters of the path and the body that an operation takes. */
export type Input<P extends keyof paths, M extends Method = 'get'> = Parameters<Operation<P, M>> & Sent<Operation<P, M>>;

/** A response that is not a success, or no response: then the status is 0. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string,
  ) {
    super(message);
  }

  /** Returns the same error with another message. */
  saying(message: string): ApiError {
    return new ApiError(this.status, this.code, message, this.requestId);
  }
}

/**
 * Returns the error of a change as its dialog shows it. Without a response of the server, nobody knows whether the change was made,
 * and a rotation that is made twice stops the key of the backend.
 */
export function errorOfChange(error: ApiError): ApiError {
  const isAnswered = error.code !== '' && error.status !== 0;
  if (isAnswered || (error.status > 0 && error.status < 500)) return error;
  return error.saying(
    'The server did not answer, so this may have been done. Close this dialog and look at the page. Repeat it only if it was not done.',
  );
}

export const basePath = '/api/manage';

interface LooseInput {
  path?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Returns the address of an operation. Parameters of the query that are empty are left out. */
export function addressOf(path: string, input: LooseInput = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input.path?.[name] ?? '')));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.append(name, String(value));
  }
  return basePath + filled + (query.size > 0 ? `?${query}` : '');
}

/** Is called when a response says that nobody is signed in. */
let onSignedOut: () => void = () => {};
export function setOnSignedOut(call: () => void): void {
  onSignedOut = call;
}

/** How often a read is repeated that exceeded the rate limit, and the longest wait that a person hardly notices. */
const maxRepeats = 3;
const maxWaitMs = 2_000;

/**
 * Requests an address and returns the JSON of the response. Throws an ApiError. A read that
 * exceeds the rate limit waits as long as the server says, because a person who clicks quickly
 * makes many.
 */
export async function fetchJSON(method: string, address: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  for (let repeats = 0; ; repeats++) {
    const response = await request(method, address, body, signal);
    const waitMs = Number(response.headers.get('retry-after')) * 1_000;
    if (response.status !== 429 || method !== 'GET' || repeats === maxRepeats || waitMs > maxWaitMs) return readJSON(response);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

async function request(method: string, address: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, {
      method,
      credentials: 'same-origin',
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server does not respond. Check your connection, then try again.', '');
  }
}

async function readJSON(response: Response): Promise<unknown> {
  const requestId = response.headers.get('x-request-id') ?? '';
  const json: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  if (response.ok) return json;
  const { code = '', message = '' } = (json as { error?: { code?: string; message?: string } } | undefined)?.error ?? {};
  if (response.status === 401) onSignedOut();
  throw new ApiError(response.status, code, message || `The server responded with the status ${response.status}.`, requestId);
}

/** Calls an operation of the management API. Throws an ApiError. */
export function call<M extends Method, P extends PathOf<M>>(method: M, path: P, input: Input<P, M>): Promise<ResponseOf<P, M>> {
  const loose = input as LooseInput;
  return fetchJSON(method.toUpperCase(), addressOf(path, loose), loose.body) as Promise<ResponseOf<P, M>>;
}
