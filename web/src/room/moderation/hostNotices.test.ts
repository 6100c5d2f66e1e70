import { describe, expect, test } from 'vitest';
import type { Locks } from '../connection/roomMetadata';
import { type HostNotices, noHostNotices, reduceHostNotices } from './hostNotices';

const open: Locks = { microphone: false, camera: false, screen_share: false, chat: false, waiting_room: false };
const locks = (notices: HostNotices, before: Partial<Locks>, after: Partial<Locks>): HostNotices =>
  reduceHostNotices(notices, { type: 'locks', before: { ...open, ...before }, after: { ...open, ...after } });
const changes = ({ locks }: HostNotices): string[] => locks?.changes.map(({ feature, locked }) => `${feature} ${locked}`) ?? [];

describe('a notice of a change by a host', () => {
  test('names the permission, and several of them', () => {
    const first = locks(noHostNotices, {}, { microphone: true });
    expect(changes(first)).toEqual(['microphone true']);
    const both = locks(first, { microphone: true }, { microphone: true, chat: true });
    expect(changes(both)).toEqual(['microphone true', 'chat true']);
    expect(both.locks?.key).not.toBe(first.locks?.key);
  });

  test('disappears when the change is undone, and is announced when it was read before', () => {
    const locked = locks(noHostNotices, {}, { camera: true });
    expect(locks(locked, { camera: true }, {}).locks).toBeNull();
    const read = reduceHostNotices(locked, { type: 'read', kind: 'locks' });
    expect(changes(locks(read, { camera: true }, {}))).toEqual(['camera false']);
  });

  test('says nothing of the waiting room, which guests inside do not notice', () => {
    expect(locks(noHostNotices, {}, { waiting_room: true })).toBe(noHostNotices);
  });

  test('has one notice of each kind, the latest', () => {
    const asked = reduceHostNotices(reduceHostNotices(noHostNotices, { type: 'muted', from: 'Amina' }), { type: 'asks', from: 'Chen' });
    expect(asked.mic).toEqual({ is: 'asks', from: 'Chen', key: 2 });
    const promoted = reduceHostNotices(locks(asked, {}, { chat: true }), { type: 'role', role: 'cohost' });
    expect([promoted.role?.is, promoted.locks, promoted.mic?.is]).toEqual(['cohost', null, 'asks']);
  });
});
