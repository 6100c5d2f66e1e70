import type { ReactElement } from 'react';
import { SelectFilter, TextFilter } from '../ui/Filters';
import { periods, readTime, type spans, writeTime, zoned } from './times';
import type { PeriodQuery } from './usePeriod';

/** A time to filter by, in the time zone of the browser. The address has it in UTC, so that a link shows everybody the same list. */
export function TimeFilter({ value = '', ...filter }: { name: string; label: string; value: string | undefined }): ReactElement {
  return <TextFilter {...filter} value={writeTime(value)} placeholder="2026-11-24 10:05" check={readTime} write={zoned} />;
}

/** The filters by time of a list: a preset, and its bounds. */
export function PeriodFilter({ query, presets = periods }: { query: PeriodQuery; presets?: typeof periods | typeof spans }): ReactElement {
  return (
    <>
      <SelectFilter name="within" label="Time" value={query.within} options={presets} />
      <div className="filter-pair">
        <TimeFilter name="from" label="From" value={query.from} />
        <TimeFilter name="until" label="Until" value={query.until} />
      </div>
    </>
  );
}
