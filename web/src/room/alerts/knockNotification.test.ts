import { afterEach, expect, test, vi } from 'vitest';
import { notificationPermission, notifyKnock } from './knockNotification';

afterEach(() => vi.unstubAllGlobals());

const shown: string[] = [];
class Granted extends EventTarget {
  static readonly permission = 'granted';

  constructor(title: string, { body }: NotificationOptions) {
    super();
    shown.push(`${title}: ${body}`);
  }
}

test.each([
  { where: 'a desktop', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0', permission: 'granted', notifications: 1 },
  { where: 'Android', userAgent: 'Mozilla/5.0 (Linux; Android 10; K) Chrome/156.0.0.0', permission: 'unsupported', notifications: 0 },
])('notifications are offered only where a page can show them: $where', ({ userAgent, permission, notifications }) => {
  shown.length = 0;
  vi.stubGlobal('Notification', Granted);
  vi.stubGlobal('navigator', { userAgent });
  expect(notificationPermission()).toBe(permission);
  notifyKnock('Workshop', 'Ben');
  expect(shown).toHaveLength(notifications);
});
