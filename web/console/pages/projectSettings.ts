import type { Schemas } from '../api/client';
import { formatCount } from '../format';

type Settings = Schemas['ProjectSettings'];
export type Changes = Schemas['ProjectChanges'];

/** One setting of a project. */
export interface Field {
  /** The name in the API, with a dot before the name inside an object. */
  name: string;
  label: string;
  kind: 'text' | 'url' | 'number' | 'switch' | 'lines' | 'events';
  /** Shown in place of a value that is not set. */
  none: string;
  /** Explains the value in the form. */
  hint?: string;
  /** The unit of a number. */
  unit?: string;
  /** The smallest and the largest number. */
  range?: readonly [min: number, max: number];
  /** Whether 0 is a value of its own; otherwise it means that the number is not set. */
  hasZero?: boolean;
  maxLength?: number;
}

export interface Group {
  id: string;
  title: string;
  /** Says when a change takes effect. */
  note: string;
  fields: Field[];
  /** What a person must confirm, because it cannot be undone. */
  confirm?: string;
}

const atOnce = 'A change takes effect at once, also in running rooms.';
const newRooms = 'A change applies to new rooms. Rooms that exist keep their values.';

const allowed = (name: string, label: string): Field => ({ name: `features.${name}`, label, kind: 'switch', none: '' });
const locked = (name: string, label: string): Field => ({ name: `locks.${name}`, label, kind: 'switch', none: '' });
const kept = (name: string, label: string): Field => ({
  name: `retention.${name}`,
  label,
  kind: 'number',
  none: 'As on the server',
  unit: 'days',
  range: [0, 3650],
});

/** The settings of a project, in the order of the page. A test compares them with the description of the API. */
export const groups: Group[] = [
  {
    id: 'webhooks',
    title: 'Webhooks',
    note: atOnce,
    fields: [
      {
        name: 'default_webhook_url',
        label: 'Webhook URL',
        kind: 'url',
        none: 'None',
        hint: 'It receives the events of all rooms, in addition to the URL of a room.',
        maxLength: 2048,
      },
      { name: 'webhook_events', label: 'Webhook events', kind: 'events', none: 'All', hint: 'Without a choice, all are sent.' },
    ],
  },
  {
    id: 'rooms',
    title: 'Rooms',
    note: newRooms,
    fields: [
      { name: 'features.max_participants', label: 'Maximum people in a room', kind: 'number', none: 'Plan limit', range: [0, 1000] },
      { name: 'features.room_duration', label: 'Longest meeting', kind: 'number', none: 'Plan limit', unit: 'min', range: [0, 1440] },
      {
        name: 'features.breakout_rooms',
        label: 'Maximum breakout rooms',
        kind: 'number',
        none: 'Plan limit',
        range: [0, 16],
        hasZero: true,
        hint: '0 means none.',
      },
      {
        name: 'default_empty_timeout',
        label: 'Empty timeout',
        kind: 'number',
        none: '300 s (default)',
        unit: 's',
        range: [0, 86_400],
        hint: 'How long a room may stay empty that asks for 0.',
      },
      allowed('camera', 'Camera allowed'),
      allowed('screen_share', 'Screen sharing allowed'),
      allowed('chat', 'Chat allowed'),
    ],
  },
  {
    id: 'guests',
    title: 'Guests',
    note: `Hosts can change them in a running room. ${newRooms}`,
    fields: [
      locked('waiting_room', 'Waiting room'),
      locked('microphone', 'Microphone locked'),
      locked('camera', 'Camera locked'),
      locked('screen_share', 'Screen sharing locked'),
      locked('chat', 'Chat locked'),
    ],
  },
  {
    id: 'access',
    title: 'Access',
    note: atOnce,
    fields: [
      { name: 'invitations_required', label: 'Personal links required', kind: 'switch', none: '' },
      { name: 'hidden_participants', label: 'Hidden participants allowed', kind: 'switch', none: '' },
      { name: 'require_secret_signatures', label: 'Secret required in signatures', kind: 'switch', none: '' },
      {
        name: 'embed_origins',
        label: 'Pages that may embed rooms',
        kind: 'lines',
        none: 'None',
        hint: 'One origin a line, such as https://example.org.',
      },
    ],
  },
  {
    id: 'brand',
    title: 'Brand',
    note: atOnce,
    fields: [
      { name: 'brand_name', label: 'Name', kind: 'text', none: 'Parley', maxLength: 40 },
      { name: 'brand_color', label: 'Color', kind: 'text', none: 'Default', hint: 'A dark color, such as #1f5f8b.', maxLength: 7 },
      {
        name: 'default_logout_url',
        label: 'Logout URL',
        kind: 'url',
        none: 'None',
        hint: 'Where people go who leave a room that has no logout URL.',
        maxLength: 255,
      },
    ],
  },
  {
    id: 'retention',
    title: 'Retention',
    note: 'Periods that are shorter than those of the server. The server deletes older data every hour.',
    confirm: 'Data that is older is deleted permanently',
    fields: [
      kept('rooms_days', 'Rooms are kept'),
      kept('people_days', 'Names are kept'),
      kept('deliveries_days', 'Deliveries are kept'),
      kept('calls_days', 'API calls are kept'),
    ],
  },
];

/** The types of events that a webhook can choose. A test compares them with the server. */
export const eventTypes = [
  'room.scheduled',
  'room.opened',
  'room.started',
  'room.ended',
  'room.cancelled',
  'room.expired',
  'participant.joined',
  'participant.left',
  'participant.reported',
  'participant.join_failed',
  'attendance.marked',
  'feedback.given',
  'project.status_changed',
  'key.rotated',
  'key.overlap_ending',
];

type Value = string | number | boolean | string[] | undefined;

/** Returns the value of a setting; undefined if it is not set. */
export function settingOf(settings: Settings, { name, hasZero }: Field): Value {
  let value: unknown = settings;
  for (const part of name.split('.')) value = (value as Record<string, unknown>)[part];
  if (value === '' || (value === 0 && !hasZero)) return undefined;
  return value as Value;
}

/** Describes the value of a setting. */
export function describe(settings: Settings, field: Field): string {
  const value = settingOf(settings, field);
  if (value === undefined) return field.none;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.join(', ') || field.none;
  if (typeof value === 'number' && field.unit === 'days') return formatCount(value, 'day');
  return [value, field.unit].filter((part) => part !== undefined).join(' ');
}

/** Describes the logo of a project by its size. */
export const describeLogo = ({ logo }: Pick<Schemas['Project'], 'logo'>): string =>
  logo ? `${logo.width} × ${logo.height} pixels` : 'None';

/** Returns a message of the API with the labels of settings in place of their names. */
export function withLabels(message: string, fields: Field[]): string {
  return message.replace(/[a-z]+(?:[._][a-z]+)+/g, (name) => {
    const field = fields.find((one) => one.name === name);
    return field ? `“${field.label}”` : name;
  });
}

/** Returns what a form says about a setting; null restores the default. */
function readField(form: FormData, { name, kind }: Field): string | number | boolean | string[] | null {
  const text = String(form.get(name) ?? '').trim();
  switch (kind) {
    case 'switch':
      return form.get(name) !== null;
    case 'number':
      return text === '' ? null : Number(text);
    case 'lines':
      return text.split(/\s+/).filter(Boolean);
    case 'events':
      return form.getAll(name).map(String);
    default:
      return text === '' ? null : text;
  }
}

/** Returns the settings that a form changes, so that a change that somebody else made meanwhile stays. */
export function changesOf(settings: Settings, fields: Field[], form: FormData): Changes {
  const changes: Record<string, unknown> = {};
  for (const field of fields) {
    const value = readField(form, field);
    if (JSON.stringify(value) === JSON.stringify(settingOf(settings, field) ?? null)) continue;
    const [outer = '', inner] = field.name.split('.');
    if (inner === undefined) changes[outer] = value;
    else changes[outer] = { ...(changes[outer] as object | undefined), [inner]: value };
  }
  return changes as Changes;
}
