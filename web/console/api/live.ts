import { Store } from '../../src/state/store';
import { backoff } from '../../src/time/backoff';
import { ApiError, basePath, type Schemas } from './client';

/** Receives the result of a path when it has changed. */
type Watcher = (result: { data: unknown; error: ApiError | null }) => void;

/** The server follows no more paths in one stream. */
const maxPaths = 8;

/** The pages that are opened together register their paths within this time. */
const gatherMs = 50;

/**
 * One stream of server-sent events for everything that the page shows. It is closed while the
 * tab is hidden, because a browser has few connections to a host.
 */
export class Live {
  /** Whether the page is up to date without a reload; null if nothing on it is followed. */
  readonly connected = new Store<boolean | null>(null);
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #checkSession: () => Promise<boolean>;
  #source: EventSource | null = null;
  #paths = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  /** checkSession resolves to whether the person is still signed in, as far as is known. */
  constructor(checkSession: () => Promise<boolean>) {
    this.#checkSession = checkSession;
    document.addEventListener('visibilitychange', () => this.#schedule(0));
  }

  /** Follows an address of the management API until the returned function is called. */
  watch(address: string, watcher: Watcher): () => void {
    const path = address.slice(basePath.length);
    const watchers = this.#watchers.get(path) ?? new Set();
    this.#watchers.set(path, watchers.add(watcher));
    this.#schedule(gatherMs);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(path) === watchers) this.#watchers.delete(path);
      this.#schedule(gatherMs);
    };
  }

  /** Connects again, with the cookie that the browser has now: the server knows an open stream by the one it was opened with. */
  restart(): void {
    this.#close();
    this.#schedule(gatherMs);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms);
  }

  #connect(): void {
    const paths = document.hidden ? [] : [...this.#watchers.keys()].sort().slice(0, maxPaths);
    const wanted = new URLSearchParams(paths.map((path) => ['path', path])).toString();
    if (this.#source && wanted === this.#paths) return;
    this.#close();
    if (paths.length === 0) {
      this.connected.set(null);
      return;
    }
    this.#paths = wanted;
    const source = new EventSource(`${basePath}/stream?${wanted}`);
    this.#source = source;
    source.addEventListener('open', () => {
      this.#failures = 0;
      this.connected.set(true);
    });
    source.addEventListener('result', ({ data }) => this.#receive(JSON.parse(data as string) as Schemas['StreamResult']));
    source.addEventListener('ended', ({ data }) => {
      this.#close();
      if ((JSON.parse(data as string) as Schemas['StreamEnd']).code === 'stopping') this.#retry();
      else void this.#retryIfSignedIn();
    });
    // The browser would repeat at once, also when the server refuses the stream.
    source.addEventListener('error', () => {
      this.#close();
      void this.#retryIfSignedIn();
    });
  }

  #receive({ path, status, body }: Schemas['StreamResult']): void {
    const { code = '', message = '' } = status === 200 ? {} : ((body as { error?: { code?: string; message?: string } }).error ?? {});
    const error = status === 200 ? null : new ApiError(status, code, message, '');
    for (const watcher of [...(this.#watchers.get(path) ?? [])]) watcher({ data: error ? null : body, error });
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    this.connected.set(false);
  }

  async #retryIfSignedIn(): Promise<void> {
    if (await this.#checkSession()) this.#retry();
  }

  #retry(): void {
    this.#schedule(backoff(++this.#failures + 1));
  }
}
