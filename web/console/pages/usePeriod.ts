import { useNow } from '../ui/useNow';
import { type Period, periodOf, spanEnd, spans, zoned } from './times';

/** The filters by time in the address of a list. */
export interface PeriodQuery {
  within?: string;
  from?: string;
  until?: string;
}

/** The names of the filters by time. */
export const periodFilters = ['within', 'from', 'until'] as const;

/** Returns the bounds of a period. A bound that is written replaces the one of the preset. */
export function usePeriod({ within, from, until }: PeriodQuery): Period {
  const now = useNow();
  const isSpan = spans.some(([hours]) => hours === within);
  return {
    ...periodOf(within, isSpan ? spanEnd(now) : now),
    ...(from && { since: zoned(from) }),
    ...(until && { before: zoned(until) }),
  };
}
