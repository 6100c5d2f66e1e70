import type { ReactElement, Ref } from 'react';
import type { ServerClock } from '../lib/clock';
import { minutesAndSeconds } from '../lib/remaining';
import { useTime } from '../lib/useTime';
import { count, t } from '../messages';
import { Icon } from '../ui/Icon';

interface Props {
  heading: Ref<HTMLHeadingElement>;
  title: string;
  people: number;
  /** The place the visitor is in, while there are breakout rooms. */
  place: string | null;
  onRooms: () => void;
  /** When the room's time is over, once that is near. */
  endsAt: number | null;
  clock: ServerClock;
}

export function RoomHead({ heading, title, people, place, onRooms, endsAt, clock }: Props): ReactElement {
  return (
    <header className="room-head">
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{title}</bdi>
      </h1>
      <p className="quiet small">{count('room.people', people)}</p>
      {endsAt !== null && <TimeLeft endsAt={endsAt} clock={clock} />}
      {place !== null && (
        <button type="button" className="secondary room-place" onClick={onRooms}>
          <Icon name="rooms" />
          <span className="sr-only">{t('rooms.here')} </span>
          <bdi className="room-place-name">{place}</bdi>
        </button>
      )}
    </header>
  );
}

/** A timer is read when somebody asks for it, and not every second. */
function TimeLeft({ endsAt, clock }: { endsAt: number; clock: ServerClock }): ReactElement {
  const left = endsAt - useTime(clock, true);
  return (
    <p className="small time-left" role="timer">
      {t('limit.left', { time: minutesAndSeconds(left) })}
    </p>
  );
}
