import { useState } from 'react';
import type { ApiError, Input, PathOf, ResponseOf } from './client';
import { type Resource, useGet, useList } from './useGet';

interface More<P extends PathOf<'get'>> {
  /** The first page. */
  first: Resource<ResponseOf<P>>;
  /** The pages that were loaded after it. */
  rest: ResponseOf<P>[];
  /** Loads the next page; null if there is none, or while one loads. */
  loadMore: (() => void) | null;
  /** Whether a page after the first one loads. */
  loadingMore: boolean;
  /** Why the last page could not be loaded. */
  error: ApiError | null;
  retry: () => void;
}

interface Loaded<T> {
  key: string;
  /** The pages between the first and the last one, as they were when the next one was loaded. */
  between: T[];
  /** The cursor of the last page; undefined for the first one. */
  cursor: string | undefined;
}

/**
 * Reads a list whose pages are shown below each other. It follows the first page, and the last one because there the list grows,
 * unless `follow` is false, as for searches, which cost the server too much to repeat every few seconds.
 */
export function useMore<P extends PathOf<'get'>>(path: P, input: Input<P>, follow = true): More<P> {
  const key = JSON.stringify(input);
  const [loaded, setLoaded] = useState<Loaded<ResponseOf<P>>>({ key, between: [], cursor: undefined });
  const { between, cursor } = loaded.key === key ? loaded : { between: [], cursor: undefined };
  const first = useList(path, input, follow);
  const { query, ...others } = input as { query?: object };
  const last = useGet(path, cursor === undefined ? null : ({ ...others, query: { ...query, cursor } } as unknown as Input<P>), follow);
  const lastPage = cursor === undefined ? null : last.data;
  const end = (cursor === undefined ? !first.loading && first.data : lastPage) as { next_cursor?: string } | null | false;
  const next = end ? end.next_cursor : undefined;
  return {
    first,
    rest: lastPage === null ? between : [...between, lastPage],
    loadMore:
      next === undefined ? null : () => setLoaded({ key, between: lastPage === null ? between : [...between, lastPage], cursor: next }),
    loadingMore: cursor !== undefined && lastPage === null && last.error === null,
    error: last.error,
    retry: last.reload,
  };
}
