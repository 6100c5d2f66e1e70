import { useState } from 'react';
import { useNow } from '../ui/useNow';
import { type Period, periodOf, spans, zoned } from './times';

/** The filters by time in the address of a list. */
export interface PeriodQuery {
  within?: string;
  from?: string;
  until?: string;
}

/** The names of the filters by time. */
export const periodFilters = ['within', 'from', 'until'] as const;

/**
 * Returns the bounds of a period. A bound that is written replaces the one of the preset. Those of a span are computed once, so that
 * the address of the list stays the same.
 */
export function usePeriod({ within, from, until }: PeriodQuery): Period {
  const [opened] = useState(Date.now);
  const now = useNow();
  const isSpan = spans.some(([hours]) => hours === within);
  return {
    ...periodOf(within, isSpan ? opened : now),
    ...(from && { since: zoned(from) }),
    ...(until && { before: zoned(until) }),
  };
}
