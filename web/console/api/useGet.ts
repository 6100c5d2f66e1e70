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

/**
 * Reads an operation, again whenever its address changes, and follows it if `follow` is set.
 * With null as the input, it reads nothing.
 */
export function useGet<P extends PathOf<'get'>>(path: P, input: Input<P> | null, follow = true): Resource<ResponseOf<P>> {
  const address = input === null ? null : addressOf(path, input as object);
  return useFollowed<ResponseOf<P>>(address, follow);
}

function useFollowed<T>(address: string | null, follow: boolean): Resource<T> {
  const [shown, setShown] = useState<{ address: string | null; data: T | null; error: ApiError | null; at: number }>({
    address: null,
    data: null,
    error: null,
    at: 0,
  });
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
        if (request !== requested.current || !(error instanceof ApiError)) return;
        setShown((before) => ({ ...before, address, data: sameList(before.address, address) ? before.data : null, error }));
      },
    );
    return () => abort.abort();
  }, [address, round]);
  useEffect(() => {
    if (address === null || !follow) return;
    return live.watch(address, ({ data, error }) => {
      requested.current++; // a response that is still on its way is older
      setShown((before) => ({ address, data: error ? before.data : (data as T), error, at: error ? before.at : Date.now() }));
    });
  }, [address, follow]);
  // While another page of a list loads, the previous one stays, so that nothing jumps.
  const data = sameList(shown.address, address) ? shown.data : null;
  const current = shown.address === address;
  return { data, error: current ? shown.error : null, loading: address !== null && !current, at: shown.at, reload };
}

const sameList = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one.split('?')[0] === other.split('?')[0];
