import type { ReactElement, Ref } from 'react';
import { count, t } from '../messages';
import { formatMinutesSeconds } from '../time/remaining';
import { useServerTime } from '../time/useServerTime';
import { Icon } from '../ui/Icon';
import { TestMark } from '../ui/TestMark';
import { FullScreenButton } from './FullScreenButton';
import { useMeetingPeople, useMeetingView, useMembership } from './meeting';

interface Props {
  heading: Ref<HTMLHeadingElement>;
  /** When the room ends; null until that is near. */
  endsAt: number | null;
}

export function RoomHeader({ heading, endsAt }: Props): ReactElement {
  const { seat, breakoutName } = useMembership();
  const { people } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  return (
    <>
      <header className="room-head">
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {seat.title}
        </h1>
        {seat.test && <TestMark />}
        <p className="quiet small">{count('room.people', people.length)}</p>
        {endsAt !== null && <TimeLeft endsAt={endsAt} />}
        {breakoutName !== null && (
          <button type="button" className="secondary room-place" onClick={() => openSheet('rooms')}>
            <Icon name="rooms" />
            <span className="sr-only">{t('rooms.here')} </span>
            <bdi className="room-place-name">{breakoutName}</bdi>
          </button>
        )}
      </header>
      {seat.room_type === 'video' && <FullScreenButton />}
    </>
  );
}

/** The role timer is not read every second. */
function TimeLeft({ endsAt }: { endsAt: number }): ReactElement {
  const { clock } = useMembership();
  const left = endsAt - useServerTime(clock, true);
  return (
    <p className="small time-left" role="timer">
      {t('limit.left', { time: formatMinutesSeconds(left) })}
    </p>
  );
}
