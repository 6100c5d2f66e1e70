import { type ReactElement, useRef } from 'react';
import type { Preview } from '../api/client';
import { t } from '../messages';
import { readRoute } from '../route';
import { formatWhen } from '../time/dateTime';
import { formatRemaining } from '../time/remaining';
import { Icon } from '../ui/Icon';
import { calendarFile } from './calendar';

interface Props {
  start: number;
  now: number;
}

const minute = 60_000;

/** When a scheduled room starts, and how long that is from now. */
export function Schedule({ start, now }: Props): ReactElement {
  const left = start - now;
  return (
    <>
      <p className="schedule">
        <span>{formatWhen(start, now)}</span>{' '}
        <span className="countdown quiet" role="timer">
          {left > 0 ? t('schedule.in', { time: formatRemaining(left) }) : t('schedule.now')}
        </span>
      </p>
      <p className="sr-only" role="status">
        {useMilestone(left)}
      </p>
    </>
  );
}

export function CalendarButton({ preview, start }: { preview: Preview; start: number }): ReactElement {
  const personal = readRoute(location)?.link != null;
  return (
    <>
      <button type="button" className="text-button" onClick={() => save(preview, start)}>
        <Icon name="calendar" />
        {t('schedule.save')}
      </button>
      {personal && <p className="small quiet">{t('schedule.personal')}</p>}
    </>
  );
}

/**
 * Returns what screen readers announce before the start: the time that is left, at 10, 5
 * and 1 minutes. A timer that is announced every second would never stop.
 */
function useMilestone(left: number): string | null {
  const announced = useRef<{ mark: number; text: string } | null>(null);
  const mark = [1, 5, 10].find((minutes) => left <= minutes * minute);
  if (mark === undefined || left <= 0) return null;
  if (announced.current?.mark !== mark) announced.current = { mark, text: t('schedule.soon', { time: formatRemaining(left) }) };
  return announced.current.text;
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
