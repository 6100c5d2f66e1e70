import type { ReactElement, ReactNode } from 'react';

interface Props {
  /** The result of useMore. */
  list: { loadMore: (() => void) | null; loadingMore: boolean };
  children: ReactNode;
}

/** Loads the next page of a list, which is shown below the others. It stays while the page loads, so that it keeps the focus. */
export function MoreButton({ list: { loadMore, loadingMore }, children }: Props): ReactElement | null {
  if (!loadMore && !loadingMore) return null;
  return (
    <button type="button" className="secondary more" aria-disabled={!loadMore} onClick={() => loadMore?.()}>
      {children}
    </button>
  );
}
