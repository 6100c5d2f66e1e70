import { type Key, type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Resource } from '../api/useGet';
import { isFirstPage, openNext, openPrevious, skipPage } from '../router';
import { ErrorBox } from './states';
import { type Column, Table } from './Table';

interface Props<D, T> {
  label: string;
  resource: Resource<D>;
  rowsOf: (data: D) => T[];
  cursorOf?: (data: D) => string | undefined;
  columns: (Column<T> | null | false)[];
  keyOf: (row: T) => Key;
  /** Shown instead of an empty table. */
  empty: ReactNode;
  /** The cursor of the page that is shown; undefined for the first one. */
  cursor?: string | undefined;
  /** Whether the pages begin with the oldest row. */
  oldestFirst?: boolean;
}

/**
 * How many pages without a match are skipped before the list asks whether to go on: few when it opens, so that nobody costs the server
 * more than 100 ms without knowing it, and many when somebody asks for them. `make bench` makes as many requests for a page.
 */
const skippedAtFirst = 1;
const skippedWhenAsked = 20;

/**
 * Skips pages without a match, because a search reads a limited number of rows for each page. next is the cursor of the page after
 * an empty one; undefined if there is none, or while a page loads. Returns whether it has stopped, and how to go on.
 */
function useSkipEmpty(isEmpty: boolean, next: string | undefined, cursor: string | undefined): [stopped: boolean, goOn: () => void] {
  const [left, setLeft] = useState(skippedAtFirst);
  const stopped = left === 0;
  // A page with a match, and the first page of another search, begin anew.
  useEffect(() => {
    if (!isEmpty || cursor === undefined) setLeft(skippedAtFirst);
  }, [isEmpty, cursor]);
  useEffect(() => {
    if (!isEmpty || next === undefined || stopped) return;
    setLeft((n) => n - 1);
    skipPage(next);
  }, [isEmpty, next, stopped]);
  return [stopped, () => setLeft(skippedWhenAsked)];
}

/** A page of a list, with its states and the buttons to the pages beside it. */
export function List<D, T>({
  label,
  resource,
  rowsOf,
  cursorOf,
  columns,
  keyOf,
  empty,
  cursor,
  oldestFirst = false,
}: Props<D, T>): ReactElement {
  const { data, error, loading, reload } = resource;
  // The page before stays while the next one loads.
  const isEmpty = data !== null && rowsOf(data).length === 0;
  const [stopped, goOn] = useSkipEmpty(isEmpty, loading || error || data === null ? undefined : cursorOf?.(data), cursor);
  const hadPager = useRef(false);
  if (error && data === null) return <ErrorBox error={error} retry={reload} />;
  if (data === null) return <Loading />;
  const rows = rowsOf(data);
  const next = cursorOf?.(data);
  const previous = !isFirstPage(cursor);
  // It stays while a page loads, so that its buttons keep the focus.
  const hasPager = Boolean(next || previous) || (loading && hadPager.current);
  hadPager.current = hasPager;
  const [before, after] = oldestFirst ? ['Older', 'Newer'] : ['Newer', 'Older'];
  return (
    <div className="list">
      {error && <ErrorBox error={error} retry={reload} />}
      {isEmpty && !next && !previous ? empty : <Table label={label} columns={columns} rows={rows} keyOf={keyOf} busy={loading} />}
      {isEmpty && (next || previous) && (
        <p className="quiet" role="status">
          {next
            ? stopped
              ? `Nothing matches so far. ${after} entries may match.`
              : `Searching ${after.toLowerCase()} entries…`
            : `There are no ${after.toLowerCase()} entries.`}
        </p>
      )}
      {hasPager && (
        <nav className="pager" aria-label={`Pages: ${label}`}>
          <button type="button" className="secondary" aria-disabled={!previous} onClick={() => previous && openPrevious()}>
            {before}
          </button>
          <button type="button" className="secondary" aria-disabled={!next} onClick={() => next && (isEmpty ? goOn() : openNext(next))}>
            {isEmpty && next ? 'Keep searching' : after}
          </button>
        </nav>
      )}
    </div>
  );
}

/** Reserves the space of a list that loads. */
export function Loading(): ReactElement {
  return (
    <div className="loading" role="status">
      <span className="delayed">Loading…</span>
    </div>
  );
}
