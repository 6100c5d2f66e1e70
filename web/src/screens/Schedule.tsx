import type { ReactElement } from 'react';
import type { Preview } from '../api/client';
import { count, formatNumber, t } from '../messages';
import { formatDateTime } from '../time/dateTime';
import { splitRemaining, type Unit } from '../time/remaining';
import { Icon } from '../ui/Icon';
import { calendarFile } from './calendar';

interface Props {
  preview: Preview;
  start: number;
  now: number;
}

const minute = 60_000;

const unitNames = { days: 'unit.days', hours: 'unit.hours', minutes: 'unit.minutes', seconds: 'unit.seconds' } as const satisfies Record<
  Unit,
  string
>;

/** When a scheduled room starts, with a countdown. */
export function Schedule({ preview, start, now }: Props): ReactElement {
  const left = start - now;
  return (
    <section className="schedule">
      <p className="quiet">{t('schedule.starts', { when: formatDateTime(start) })}</p>
      <div className="countdown" role="timer">
        {left > 0 ? (
          <>
            <span className="sr-only">{t('schedule.in')} </span>
            {splitRemaining(left).map(({ unit, n }) => (
              <span key={unit} className="countdown-part">
                <span className="countdown-number">{formatNumber(n)}</span> <span className="small quiet">{count(unitNames[unit], n)}</span>
              </span>
            ))}
          </>
        ) : (
          <span>{t('schedule.now')}</span>
        )}
      </div>
      <p className="sr-only" role="status">
        {milestone(left)}
      </p>
      <button type="button" className="secondary" onClick={() => save(preview, start)}>
        <Icon name="calendar" />
        {t('schedule.save')}
      </button>
    </section>
  );
}

/** The announcements before the start. A timer that is announced every second would never stop. */
function milestone(left: number): string | null {
  const mark = [1, 5, 10].find((minutes) => left <= minutes * minute);
  return mark === undefined || left <= 0 ? null : count('schedule.soon', mark);
}

function save(preview: Preview, start: number): void {
  const file = calendarFile({
    uid: `${preview.room_id}@${location.hostname}`,
    url: location.href,
    title: preview.title,
    start,
    now: Date.now(),
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([file], { type: 'text/calendar' }));
  link.download = `${preview.title}.ics`;
  link.click();
  // By then the browser has read the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
