import type { ReactElement } from 'react';
import { t } from '../../messages';
import { formatTime } from '../../time/dateTime';
import { formatMinutesSeconds } from '../../time/remaining';
import { useServerTime } from '../../time/useServerTime';
import { Icon } from '../../ui/Icon';
import { NotificationSettings } from '../alerts/NotificationSettings';
import { Linkified } from '../chat/Linkified';
import { InvitePart } from '../invite/InvitePart';
import { useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import { GuestPermissions } from '../moderation/GuestPermissions';

/** The room: its message and time, the link, what guests may do, the breakout rooms and the end. */
export function RoomTab(): ReactElement {
  const { seat, role, isModerator, welcomeMessage } = useMembership();
  const { metadata } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  const hasBreakouts = (isModerator && seat.max_breakouts > 0) || metadata.breakouts.length > 0;
  return (
    <>
      <section className="sheet-part">
        <h2>
          <bdi>{seat.title}</bdi>
        </h2>
        {metadata.endsAt !== null && <TimeLeft endsAt={metadata.endsAt} />}
        {welcomeMessage && (
          <p className="broadcast" dir="auto">
            <Linkified text={welcomeMessage} />
          </p>
        )}
      </section>
      <InvitePart />
      {hasBreakouts && (
        <button type="button" className="secondary wide" onClick={() => openSheet('rooms')}>
          <Icon name="rooms" />
          {t('rooms.title')}
        </button>
      )}
      {/* Above the settings, so that it is found without scrolling. */}
      {role === 'host' && (
        <button type="button" className="secondary wide wrong" onClick={() => openSheet('end')}>
          {t('end.open')}
        </button>
      )}
      {isModerator && <GuestPermissions />}
      <NotificationSettings />
    </>
  );
}

const hour = 3_600_000;

/** When the room ends, unless that is far off, and in the last hour how much time is left. The role timer is not read every second. */
function TimeLeft({ endsAt }: { endsAt: number }): ReactElement | null {
  const { clock } = useMembership();
  const left = endsAt - useServerTime(clock, true);
  if (left > 12 * hour) return null;
  return (
    <p className="quiet" role="timer">
      {t('limit.endsAt', { time: formatTime(endsAt) })}
      {left <= hour && <> · {t('limit.left', { time: formatMinutesSeconds(left) })}</>}
    </p>
  );
}
