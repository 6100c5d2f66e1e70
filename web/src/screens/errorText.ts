import type { CallError, EndReason, ErrorCode } from '../api/client';
import { count, t } from '../messages';

export interface ErrorText {
  title: string;
  text: string[];
  /** The visitor's next step; null when only somebody else can help. */
  nextStep: 'again' | 'reload' | null;
}

const endReasonTexts = (): Record<EndReason, string> => ({
  host: t('ended.host'),
  api: t('ended.api'),
  empty_timeout: t('ended.empty_timeout'),
  duration: t('ended.duration'),
  project_suspended: t('ended.project_suspended'),
  server: t('ended.server'),
  expired: t('ended.expired'),
  cancelled: t('ended.cancelled'),
});

const outOfDate = (): ErrorText => ({ title: t('refused.page.title'), text: [t('refused.page.text')], nextStep: 'reload' });
const closed = (): ErrorText => ({ title: t('refused.closed.title'), text: [t('refused.closed.text')], nextStep: 'again' });

const pages: Record<ErrorCode, (error: CallError) => ErrorText> = {
  room_full: ({ maxParticipants }) => ({
    title: t('refused.full.title'),
    text: [...(maxParticipants === null ? [] : [count('refused.full.seats', maxParticipants)]), t('refused.full.text')],
    nextStep: 'again',
  }),
  room_not_open: () => ({ title: t('refused.notOpen.title'), text: [t('refused.notOpen.text')], nextStep: 'again' }),
  room_not_found: () => ({ title: t('refused.unknown.title'), text: [t('refused.unknown.text')], nextStep: 'again' }),
  room_ended: () => ({ title: t('ended.before'), text: [t('ended.next')], nextStep: null }),
  project_inactive: closed,
  project_suspended: closed,
  hidden_participants_off: closed,
  invitation_required: () => ({
    title: t('refused.invitation.title'),
    text: [t('refused.invitation.text'), t('refused.invitation.used')],
    nextStep: 'again',
  }),
  removed: () => ({ title: t('removed.title'), text: [t('removed.text'), t('removed.again')], nextStep: 'again' }),
  turned_away: () => ({ title: t('refused.denied.title'), text: [t('refused.denied.text')], nextStep: null }),
  waiting_room_full: () => ({ title: t('refused.waitingRoomFull.title'), text: [t('refused.waitingRoomFull.text')], nextStep: 'again' }),
  too_many_attempts: () => ({ title: t('refused.attempts.title'), text: [t('refused.attempts.text')], nextStep: null }),
  too_many_joins: () => ({ title: t('refused.waitingRoomFull.title'), text: [t('lobby.busyNetwork')], nextStep: 'again' }),
  link_taken: outOfDate,
  // Errors of actions inside the room, which the sheets show.
  not_host: outOfDate,
  not_in_room: outOfDate,
  breakout_not_found: outOfDate,
  too_many_breakouts: outOfDate,
  seat_not_found: outOfDate,
  microphone_locked: outOfDate,
  hidden: outOfDate,
  too_often: outOfDate,
  check_busy: outOfDate,
  check_not_found: outOfDate,
  too_many_invitations: outOfDate,
  invalid_request: outOfDate,
  unsupported_media_type: outOfDate,
  body_too_large: outOfDate,
  unavailable: outOfDate,
  internal: outOfDate,
};

/**
 * Returns the text for an error. `wasInRoom`: the visitor was in the room when it ended.
 * `endedByVisitor`: and ended it.
 */
export function errorText(error: CallError, wasInRoom: boolean, endedByVisitor: boolean): ErrorText {
  const { code, reason } = error;
  if (code !== 'room_ended') return (pages[code] ?? outOfDate)(error);
  if (endedByVisitor) return { title: t('ended.you'), text: [t('ended.you.text')], nextStep: null };
  const reasonText = reason && endReasonTexts()[reason];
  return {
    title: t(wasInRoom ? 'ended.title' : 'ended.before'),
    // A newer server may have reasons that this page does not know.
    text: [...(reasonText ? [reasonText] : []), t('ended.next')],
    nextStep: null,
  };
}
