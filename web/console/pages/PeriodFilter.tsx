import type { ReactElement } from 'react';
import { SelectFilter, TextFilter } from '../ui/Filters';
import { periods, readTime, type spans } from './times';
import type { PeriodQuery } from './usePeriod';

/** The filters by time of a list: a preset, and its bounds. */
export function PeriodFilter({ query, presets = periods }: { query: PeriodQuery; presets?: typeof periods | typeof spans }): ReactElement {
  return (
    <>
      <SelectFilter name="within" label="Time" value={query.within} options={presets} />
      <div className="filter-pair">
        <TextFilter name="from" label="From" value={query.from} placeholder="2026-11-24 10:05" check={readTime} />
        <TextFilter name="until" label="Until" value={query.until} placeholder="2026-11-24 10:05" check={readTime} />
      </div>
    </>
  );
}
