import type { ReactElement } from 'react';
import type { roomIcons } from '../room/roomIcons';

const sharedIcons = {
  mic: 'M12 15a3.5 3.5 0 0 0 3.5-3.5v-5a3.5 3.5 0 0 0-7 0v5A3.5 3.5 0 0 0 12 15ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3.5',
  micOff:
    'M15.5 11.2V6.5a3.5 3.5 0 0 0-6.7-1.4M8.5 9v2.5A3.5 3.5 0 0 0 13 14.85M5.5 11.5a6.5 6.5 0 0 0 10.2 5.3M18.5 11.5a6.5 6.5 0 0 1-.6 2.7M12 18v3.5M3.5 3.5l17 17',
  camera: 'M4.5 6.5h9a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM15.5 10.5l6-3v9l-6-3',
  cameraOff: 'M9 6.5h4.5a2 2 0 0 1 2 2v4.5M15.5 15.5a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2h.5M15.5 10.5l6-3v9l-4-2M3.5 3.5l17 17',
  calendar: 'M5 5h14a1.5 1.5 0 0 1 1.5 1.5v12A1.5 1.5 0 0 1 19 20H5a1.5 1.5 0 0 1-1.5-1.5v-12A1.5 1.5 0 0 1 5 5ZM3.5 9.5h17M8 3v4M16 3v4',
} as const;

type RoomIcons = typeof roomIcons;
export type IconName = keyof typeof sharedIcons | keyof RoomIcons;

const iconPaths: Partial<Record<IconName, string>> = { ...sharedIcons };

/** Adds the icons that only the room needs. */
export function addIcons(more: RoomIcons): void {
  Object.assign(iconPaths, more);
}

/** The classes of icons that are thicker or follow the text direction. */
const iconClasses: Partial<Record<IconName, string>> = {
  more: 'icon bold',
  leave: 'icon directional',
  reply: 'icon directional',
  chat: 'icon directional',
};

/** An icon next to a text that carries the meaning. */
export function Icon({ name }: { name: IconName }): ReactElement {
  return <IconShape path={iconPaths[name] ?? ''} className={iconClasses[name]} />;
}

/** An icon that only one part of the page needs. */
export function IconShape({ path, className = 'icon' }: { path: string; className?: string | undefined }): ReactElement {
  return (
    <svg className={className} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}
