import type { Schemas } from '../api/client';
import { formatCount } from '../format';
import type { Tone } from '../ui/values';

interface EventData {
  end_reason?: string;
  participant?: { name?: string; role?: string; reason?: string };
  mark?: { name?: string; source?: string };
  refusal?: { name?: string; code?: string };
  feedback?: { name?: string; role?: string; rating?: string };
}

/** Why a room ended, in words. */
export const endReasons: Record<Schemas['Room']['end_reason'], string> = {
  '': '',
  host: 'a host ended it',
  api: 'ended through the API',
  empty_timeout: 'it was empty for too long',
  duration: 'its duration was over',
  project_suspended: 'the project was suspended',
  server: 'the server ended it',
};

/** Why a person left, in words. */
const leaveReasons: Record<string, string> = {
  left: 'left',
  removed: 'was removed',
  room_ended: 'was in the room until it ended',
  connection_lost: 'lost the connection',
  replaced: 'connected again',
  moved: 'moved to another room',
  server: 'was disconnected, because the server stopped',
};

type HostAction = NonNullable<Schemas['TimelineEvent']['action']>;

/** Describes an action of a host, such as "Ada muted Ben", in a sentence without a period. */
function describeAction(kind: string, { by, target, role, locks = {}, count = 0, breakout }: HostAction): { text: string; tone: Tone } {
  const host = by.role === 'management' ? 'An operator or an integrator' : by.name || 'A host';
  const whom = target?.name || 'somebody';
  const done: Record<string, [text: string, tone?: Tone]> = {
    'host.removed': [`removed ${whom}`, 'warn'],
    'host.readmitted': [`let ${whom} join again`],
    'host.muted': [`muted ${whom}`],
    'host.muted_guests': [`muted all guests, ${formatCount(count, 'microphone was', 'microphones were')} on`],
    'host.changed_role': [role === 'cohost' ? `made ${whom} a co-host` : `removed ${whom} as co-host`],
    'host.changed_locks': [describeLocks(locks)],
    'host.admitted': [`admitted ${whom} from the waiting room`],
    'host.admitted_all': [`admitted ${formatCount(count, 'person', 'people')} from the waiting room`],
    'host.denied': [`did not admit ${whom} from the waiting room`, 'warn'],
    'host.opened_breakouts': [`opened ${formatCount(count, 'breakout room', 'breakout rooms')}`],
    'host.closed_breakouts': [`closed ${formatCount(count, 'breakout room', 'breakout rooms')}`],
    'host.moved': [breakout ? `moved ${whom} to breakout room ${breakout}` : `moved ${whom} back to the main room`],
    'host.broadcast': ['sent an announcement to all rooms'],
    'host.ended': ['ended the room for all', 'warn'],
  };
  const [text, tone = 'idle'] = done[kind] ?? [words(kind.replace('host.', ''))];
  return { text: `${host} ${text}`, tone };
}

const lockNames: Record<string, string> = {
  microphone: 'the microphones of guests',
  camera: 'the cameras of guests',
  screen_share: 'screen sharing by guests',
  chat: 'the chat of guests',
};

function describeLocks({ waiting_room, ...locks }: Record<string, boolean>): string {
  const namesOf = (locked: boolean): string =>
    Object.keys(locks)
      .filter((name) => locks[name] === locked)
      .map((name) => lockNames[name] ?? words(name))
      .join(', ');
  return [
    namesOf(true) && `locked ${namesOf(true)}`,
    namesOf(false) && `unlocked ${namesOf(false)}`,
    waiting_room !== undefined && `turned the waiting room ${waiting_room ? 'on' : 'off'}`,
  ]
    .filter(Boolean)
    .join(' and ');
}

const words = (code: string): string => code.replaceAll('_', ' ');

/** Describes an event in a sentence without a period. */
export function describeEvent({ kind, name, data, action }: Pick<Schemas['TimelineEvent'], 'kind' | 'name' | 'data' | 'action'>): {
  text: string;
  tone: Tone;
} {
  if (action) return describeAction(kind, action);
  const { participant, end_reason = '', mark, refusal, feedback } = data as EventData;
  const who = name || participant?.name || mark?.name || refusal?.name || feedback?.name || 'Somebody';
  switch (kind) {
    case 'room.scheduled':
      return { text: 'The room was scheduled', tone: 'idle' };
    case 'room.opened':
      return { text: 'The room opened', tone: 'busy' };
    case 'room.started':
      return { text: 'The meeting started', tone: 'good' };
    case 'room.ended': {
      const why = endReasons[end_reason as Schemas['Room']['end_reason']] ?? words(end_reason);
      return { text: `The room ended${why && `: ${why}`}`, tone: 'idle' };
    }
    case 'room.cancelled':
      return { text: 'The room was canceled', tone: 'idle' };
    case 'room.expired':
      return { text: 'The room expired, nobody joined', tone: 'idle' };
    case 'participant.joined':
      return { text: `${who} joined${participant?.role ? ` as ${participant.role}` : ''}`, tone: 'good' };
    case 'participant.left': {
      const reason = participant?.reason ?? '';
      return {
        text: `${who} ${leaveReasons[reason] ?? (reason ? `left: ${words(reason)}` : 'left')}`,
        tone: reason === 'removed' ? 'warn' : 'idle',
      };
    }
    case 'participant.join_failed':
      return { text: `${who} could not join: ${words(refusal?.code ?? 'unknown cause')}`, tone: 'bad' };
    case 'participant.reported':
      return { text: `${who} was reported as present by another system`, tone: 'idle' };
    case 'feedback.given':
      return { text: `${who} rated the meeting as ${feedback?.rating ?? 'unknown'}`, tone: feedback?.rating === 'bad' ? 'warn' : 'good' };
    default:
      return { text: words(kind.replace('.', ': ')), tone: 'idle' };
  }
}
