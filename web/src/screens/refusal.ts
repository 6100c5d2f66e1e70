import type { EndReason, Refusal, RefusalCode } from '../api/client';
import { t } from '../messages';

export interface Words {
  title: string;
  text: string[];
  /** What the visitor can do here; null when only somebody else can help. */
  way: 'again' | 'reload' | null;
}

const ends = (): Record<EndReason, string> => ({
  host: t('ended.host'),
  api: t('ended.api'),
  empty_timeout: t('ended.empty_timeout'),
  duration: t('ended.duration'),
  project_suspended: t('ended.project_suspended'),
  server: t('ended.server'),
  expired: t('ended.expired'),
  cancelled: t('ended.cancelled'),
});

const outOfStep = (): Words => ({ title: t('refused.page.title'), text: [t('refused.page.text')], way: 'reload' });
const closed = (): Words => ({ title: t('refused.closed.title'), text: [t('refused.closed.text')], way: 'again' });

const pages: Record<RefusalCode, () => Words> = {
  room_full: () => ({ title: t('refused.full.title'), text: [t('refused.full.text')], way: 'again' }),
  room_not_open: () => ({ title: t('refused.notOpen.title'), text: [t('refused.notOpen.text')], way: 'again' }),
  room_not_found: () => ({ title: t('refused.unknown.title'), text: [t('refused.unknown.text')], way: 'again' }),
  room_ended: () => ({ title: t('ended.before'), text: [t('ended.next')], way: null }),
  project_inactive: closed,
  project_suspended: closed,
  invitation_required: () => ({ title: t('refused.invitation.title'), text: [t('refused.invitation.text'), t('refused.invitation.used')], way: 'again' }),
  removed: () => ({ title: t('removed.title'), text: [t('removed.text'), t('removed.again')], way: 'again' }),
  turned_away: () => ({ title: t('refused.away.title'), text: [t('refused.away.text')], way: null }),
  waiting_room_full: () => ({ title: t('refused.crowd.title'), text: [t('refused.crowd.text')], way: 'again' }),
  too_many_attempts: () => ({ title: t('refused.attempts.title'), text: [t('refused.attempts.text')], way: null }),
  too_many_joins: () => ({ title: t('refused.crowd.title'), text: [t('lobby.busyNetwork')], way: 'again' }),
  link_taken: outOfStep,
  // Answers to what is done in a room, where the sheet says them.
  not_host: outOfStep,
  not_in_room: outOfStep,
  breakout_not_found: outOfStep,
  too_many_breakouts: outOfStep,
  seat_not_found: outOfStep,
  microphone_locked: outOfStep,
  hidden: outOfStep,
  too_often: outOfStep,
  check_busy: outOfStep,
  too_many_invitations: outOfStep,
  invalid_request: outOfStep,
  unsupported_media_type: outOfStep,
  body_too_large: outOfStep,
  unavailable: outOfStep,
  internal: outOfStep,
};

/** What the page says instead of a code. `wasIn`: the visitor was in the room when it ended. */
export function wordsFor({ code, reason }: Refusal, wasIn: boolean): Words {
  if (code !== 'room_ended') return (pages[code] ?? outOfStep)();
  const known = reason && ends()[reason];
  return {
    title: t(wasIn ? 'ended.title' : 'ended.before'),
    // A newer server may know reasons that this page does not.
    text: [...(known ? [known] : []), t('ended.next')],
    way: null,
  };
}
