import type { ReactElement, Ref } from 'react';
import type { ServerClock } from '../time/serverClock';
import { formatMinutesSeconds } from '../time/remaining';
import { useServerTime } from '../time/useServerTime';
import { count, t } from '../messages';
import { Icon } from '../ui/Icon';

interface Props {
  heading: Ref<HTMLHeadingElement>;
  title: string;
  people: number;
  /** The name of the visitor's breakout room; null when there are none. */
  breakoutName: string | null;
  onRooms: () => void;
  /** When the room ends; null until that is near. */
  endsAt: number | null;
  clock: ServerClock;
}

export function RoomHeader({ heading, title, people, breakoutName, onRooms, endsAt, clock }: Props): ReactElement {
  return (
    <header className="room-head">
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{title}</bdi>
      </h1>
      <p className="quiet small">{count('room.people', people)}</p>
      {endsAt !== null && <TimeLeft endsAt={endsAt} clock={clock} />}
      {breakoutName !== null && (
        <button type="button" className="secondary room-place" onClick={onRooms}>
          <Icon name="rooms" />
          <span className="sr-only">{t('rooms.here')} </span>
          <bdi className="room-place-name">{breakoutName}</bdi>
        </button>
      )}
    </header>
  );
}

/** The role timer is not read every second. */
function TimeLeft({ endsAt, clock }: { endsAt: number; clock: ServerClock }): ReactElement {
  const left = endsAt - useServerTime(clock, true);
  return (
    <p className="small time-left" role="timer">
      {t('limit.left', { time: formatMinutesSeconds(left) })}
    </p>
  );
}
