import { useState } from 'react';
import { useNow } from '../ui/useNow';
import { type Period, periodOf, spans } from './times';

/** Returns the bounds of a period. Those of a span are computed once, so that the address of the list stays the same. */
export function usePeriod(within: string | undefined): Period {
  const [opened] = useState(Date.now);
  const now = useNow();
  const isSpan = spans.some(([hours]) => hours === within);
  return periodOf(within, isSpan ? opened : now);
}
