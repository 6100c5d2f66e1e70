import { useCallback, useEffect, useRef, useState } from 'react';
import { stillSignedIn } from '../state/session';
import { ApiError, addressOf, fetchJSON, type Input, type PathOf, type ResponseOf } from './client';
import { Live } from './live';

export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  /** When the data was current, in local milliseconds; 0 before the first response. */
  at: number;
  reload: () => void;
}

const live = new Live(stillSignedIn);

/** Whether what the page shows is up to date without a reload; null if it follows nothing. */
export const { connected } = live;

/** Follows everything again as the person who is signed in now. */
export const restartStream = (): void => live.restart();

/**
 * Reads an operation, again whenever its address changes, and follows it if `follow` is set.
 * With null as the input, it reads nothing.
 */
export function useGet<P extends PathOf<'get'>>(path: P, input: Input<P> | null, follow = true): Resource<ResponseOf<P>> {
  return useFollowed(addressOrNull(path, input), follow, false);
}

/** Reads a page of a list as useGet does. While another page or a search of the list loads, the previous one stays, so that nothing jumps. */
export function useList<P extends PathOf<'get'>>(path: P, input: Input<P> | null, follow = true): Resource<ResponseOf<P>> {
  return useFollowed(addressOrNull(path, input), follow, true);
}

/** Follows an operation whose result the page has already: receive gets what has changed. */
export function useFollow<P extends PathOf<'get'>>(path: P, input: Input<P>, receive: (data: ResponseOf<P>) => void): void {
  const address = addressOf(path, input as object);
  useEffect(
    () =>
      live.watch(address, ({ data, error }) => {
        if (!error) receive(data as ResponseOf<P>);
      }),
    [address, receive],
  );
}

const addressOrNull = <P extends PathOf<'get'>>(path: P, input: Input<P> | null): string | null =>
  input === null ? null : addressOf(path, input as object);

interface Shown<T> {
  address: string | null;
  data: T | null;
  error: ApiError | null;
  at: number;
}

function useFollowed<T>(address: string | null, follow: boolean, list: boolean): Resource<T> {
  const [shown, setShown] = useState<Shown<T>>({ address: null, data: null, error: null, at: 0 });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const requested = useRef(0);
  useEffect(() => {
    if (address === null) return;
    const abort = new AbortController();
    const request = ++requested.current;
    fetchJSON('GET', address, undefined, abort.signal).then(
      (data) => {
        if (request === requested.current) setShown({ address, data: data as T, error: null, at: Date.now() });
      },
      (error: unknown) => {
        if (request === requested.current && error instanceof ApiError) setShown((before) => failed(before, address, error, list));
      },
    );
    return () => abort.abort();
  }, [address, round, list]);
  const current = shown.address === address;
  // A search skips empty pages as soon as it has read them.
  const watched = follow && (current || !list);
  useEffect(() => {
    if (address === null || !watched) return;
    return live.watch(address, ({ data, error }) => {
      requested.current++; // a response that is still on its way is older
      setShown((before) => (error ? failed(before, address, error, list) : { address, data: data as T, error: null, at: Date.now() }));
    });
  }, [address, watched, list]);
  const data = current || (list && sameOperation(shown.address, address)) ? shown.data : null;
  return { data, error: current ? shown.error : null, loading: address !== null && !current, at: shown.at, reload };
}

/** What is shown after a request has failed: never data of another project or period as if it were that of this one. */
function failed<T>(before: Shown<T>, address: string, error: ApiError, list: boolean): Shown<T> {
  const same = before.address === address || (list && before.address !== null && withoutCursor(before.address) === withoutCursor(address));
  return { ...before, address, data: same ? before.data : null, error };
}

const sameOperation = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one.split('?')[0] === other.split('?')[0];

function withoutCursor(address: string): string {
  const [path = '', query] = address.split('?');
  const params = new URLSearchParams(query);
  params.delete('cursor');
  return `${path}?${params}`;
}
