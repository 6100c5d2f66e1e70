import { t } from '../../messages';

/**
 * Undefined on pages without TLS and in some in-app browsers. Browsers on Android give the
 * permission, but only show notifications of service workers.
 */
const supported = (): boolean => typeof Notification === 'function' && !/Android/.test(navigator.userAgent);

export type NotificationPermissionState = NotificationPermission | 'unsupported';

export const notificationPermission = (): NotificationPermissionState => (supported() ? Notification.permission : 'unsupported');

/** Asks for the permission. Browsers require a gesture. */
export async function requestNotifications(): Promise<NotificationPermissionState> {
  return supported() ? Notification.requestPermission() : 'unsupported';
}

/** Tells a host who looks at something else that a person wants to join. */
export function notifyKnock(title: string, name: string): void {
  if (notificationPermission() !== 'granted') return;
  try {
    // The same tag, so that one notification replaces the other.
    const notification = new Notification(title, { body: t('waitingRoom.person', { name }), tag: 'parley-knock' });
    notification.addEventListener('click', () => {
      window.focus();
      notification.close();
    });
  } catch {
    // Nothing else depends on it.
  }
}
