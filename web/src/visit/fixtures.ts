/** Test support: visits in certain states. */
import type { CallError, ErrorCode, Preview, Seat } from '../api/client';
import { reduce } from './reduce';
import { type Event, opening, type Visit } from './state';
import type { Task } from './task';

export const minute = 60_000;

const maySend = { microphone: true, camera: false, screen_share: false, chat: true };

/** A preview with defaults for all fields. */
export function preview({
  you,
  ...part
}: Partial<Omit<Preview, 'you'>> & {
  you?: Omit<Preview['you'], 'may_send' | 'waits' | 'full' | 'elsewhere'> & { waits?: boolean; full?: boolean; elsewhere?: boolean };
} = {}): Preview {
  return {
    room_id: '01a1fd50-e127-70bb-989c-e1b3e2c83cd9',
    room_type: 'audio',
    title: 'Standup',
    welcome_message: '',
    state: 'open',
    participants: 1,
    host_present: true,
    others: { count: 1, names: ['Amina'] },
    max_participants: 10,
    features: { camera: false, screen_share: false, chat: true },
    server_time: '2026-01-01T00:00:00Z',
    ...part,
    you: { role: 'guest', name: '', returning: false, waits: false, full: false, elsewhere: false, ...you, may_send: maySend },
  };
}

export const host = preview({ you: { role: 'host', name: 'Amina', returning: false, link: 'ok' } });

export const seat: Seat = {
  identity: 'seat-1',
  name: 'Ben',
  role: 'guest',
  session_id: 'room.1',
  media_token: 'first',
  room_type: 'audio',
  title: 'Standup',
  max_breakouts: 0,
  features: { camera: false, screen_share: false, chat: true },
  invited_only: false,
};

export const delayOf = (task: Task | null, random: number, now = 0): number | undefined => task?.waitMs(() => random, now);

export function refused(code: ErrorCode, part: Partial<CallError> = {}): Event {
  return { type: 'refused', error: { code, reason: null, title: null, maxParticipants: null, waitMs: 0, ...part } };
}

/** Applies the events to a visit, a minute apart. */
export function applyEvents(start: Visit, ...events: Event[]): Visit {
  return events.reduce((visit, event, i) => reduce(visit, event, (i + 1) * minute), start);
}

export const lobby = applyEvents(opening, { type: 'previewed', preview: preview() });
export const inside = applyEvents(lobby, { type: 'join', name: 'Ben' }, { type: 'seated', seat }, { type: 'connected' });
export const rejoining = applyEvents(inside, { type: 'disconnected', cause: 'lost' });
