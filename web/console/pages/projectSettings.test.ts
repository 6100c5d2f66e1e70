import { expect, describe as suite, test } from 'vitest';
import type { Schemas } from '../api/client';
import { changesOf, describe, describeLogo, groups, settingOf, withLabels } from './projectSettings';

const settings: Schemas['ProjectSettings'] = {
  require_secret_signatures: false,
  default_empty_timeout: 0,
  default_logout_url: '',
  default_webhook_url: 'https://example.org/hook',
  invitations_required: true,
  hidden_participants: false,
  embed_origins: ['https://example.org'],
  brand_name: '',
  brand_color: '',
  webhook_events: [],
  features: { max_participants: 50, room_duration: 0, camera: true, screen_share: true, chat: true },
  locks: { microphone: false, camera: false, screen_share: false, chat: false, waiting_room: true },
  retention: { rooms_days: 0, people_days: 30, deliveries_days: 0, calls_days: 0 },
};

const fields = groups.flatMap((group) => group.fields);
const field = (name: string) => fields.find((one) => one.name === name) ?? fields[0];

/** The form that the page shows, with some fields set to other values. */
function form(changes: Record<string, string | string[] | null>): FormData {
  const data = new FormData();
  for (const one of fields) {
    const value = settingOf(settings, one);
    const shown = changes[one.name] !== undefined ? changes[one.name] : typeof value === 'boolean' ? (value ? 'on' : null) : value;
    if (shown === null || shown === undefined) {
      if (one.kind !== 'switch' && one.kind !== 'events') data.append(one.name, '');
      continue;
    }
    const texts = Array.isArray(shown) ? shown : [String(shown)];
    if (one.kind === 'events') for (const text of texts) data.append(one.name, text);
    else data.append(one.name, texts.join('\n'));
  }
  return data;
}

suite('the settings of a project', () => {
  test('are all in the form', () => {
    const names = Object.entries(settings).flatMap(([name, value]) =>
      typeof value === 'object' && !Array.isArray(value) ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
    );
    expect(new Set(fields.map(({ name }) => name))).toEqual(new Set([...names, 'features.breakout_rooms']));
  });

  test.each([
    ['brand_color must be a color such as "#1f5f8b"', '“Color” must be a color such as "#1f5f8b"'],
    ['features.room_duration must be at most 60', '“Longest meeting” must be at most 60'],
    [
      'embed_origins must be an origin, not "https://brand_color.example"',
      '“Pages that may embed rooms” must be an origin, not "https://brand_color.example"',
    ],
    ['the project does not exist', 'the project does not exist'],
  ])('have their labels in errors: %s', (message, shown) => {
    expect(withLabels(message, fields)).toBe(shown);
  });

  test('that a form does not change are not sent', () => {
    expect(changesOf(settings, fields, form({}))).toEqual({});
  });

  test.each([
    ['default_webhook_url', '', { default_webhook_url: null }],
    ['default_webhook_url', ' https://example.org/new ', { default_webhook_url: 'https://example.org/new' }],
    ['webhook_events', ['room.ended'], { webhook_events: ['room.ended'] }],
    ['embed_origins', 'https://a.example\n\nhttps://b.example', { embed_origins: ['https://a.example', 'https://b.example'] }],
    ['invitations_required', null, { invitations_required: false }],
    ['features.max_participants', '', { features: { max_participants: null } }],
    ['features.breakout_rooms', '0', { features: { breakout_rooms: 0 } }],
    ['locks.chat', 'on', { locks: { chat: true } }],
    ['retention.rooms_days', '90', { retention: { rooms_days: 90 } }],
  ])('change with %s set to %j', (name, value, changes) => {
    expect(changesOf(settings, fields, form({ [name]: value }))).toEqual(changes);
  });

  test('of one object are sent together', () => {
    expect(changesOf(settings, fields, form({ 'locks.chat': 'on', 'locks.waiting_room': null }))).toEqual({
      locks: { chat: true, waiting_room: false },
    });
  });

  test.each([
    ['default_webhook_url', 'https://example.org/hook'],
    ['webhook_events', 'All'],
    ['features.max_participants', '50'],
    ['features.breakout_rooms', 'Plan limit'],
    ['retention.people_days', '30 days'],
    ['default_empty_timeout', '300 s (default)'],
    ['locks.waiting_room', 'Yes'],
    ['embed_origins', 'https://example.org'],
  ])('show %s as %s', (name, text) => {
    expect(describe(settings, field(name) as never)).toBe(text);
  });
});

test('a logo is described by its size', () => {
  expect(describeLogo({ logo: { width: 320, height: 80, path: '/logos/a.png' } })).toBe('320 × 80 pixels');
  expect(describeLogo({})).toBe('None');
});
