import type { ReactElement } from 'react';

const shapes = {
  mic: 'M12 15a3.5 3.5 0 0 0 3.5-3.5v-5a3.5 3.5 0 0 0-7 0v5A3.5 3.5 0 0 0 12 15ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3.5',
  micOff: 'M15.5 11.2V6.5a3.5 3.5 0 0 0-6.7-1.4M8.5 9v2.5A3.5 3.5 0 0 0 13 14.85M5.5 11.5a6.5 6.5 0 0 0 10.2 5.3M18.5 11.5a6.5 6.5 0 0 1-.6 2.7M12 18v3.5M3.5 3.5l17 17',
  camera: 'M4.5 6.5h9a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM15.5 10.5l6-3v9l-6-3',
  cameraOff: 'M9 6.5h4.5a2 2 0 0 1 2 2v4.5M15.5 15.5a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2h.5M15.5 10.5l6-3v9l-4-2M3.5 3.5l17 17',
  screen: 'M4 4.5h16a1.5 1.5 0 0 1 1.5 1.5v9.5A1.5 1.5 0 0 1 20 17H4a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 4 4.5ZM8.5 20.5h7M12 13.5v-6M9 10.5l3-3 3 3',
  screenOff: 'M4 4.5h16a1.5 1.5 0 0 1 1.5 1.5v9.5A1.5 1.5 0 0 1 20 17H4a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 4 4.5ZM8.5 20.5h7M9.5 8.25l5 5M14.5 8.25l-5 5',
  people: 'M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.5a6.5 6.5 0 0 1 13 0M16 4.9a3.5 3.5 0 0 1 0 6.2M18 14a6.5 6.5 0 0 1 3.5 5.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  leave: 'M14 4.5H7a2 2 0 0 0-2 2v11a2 2 0 0 0 2 2h7M11 12h10M17 8l4 4-4 4',
  close: 'M5.5 5.5l13 13M18.5 5.5l-13 13',
  copy: 'M9.5 8.5h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-8a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2ZM4.5 15.5v-10a2 2 0 0 1 2-2h10',
  rooms: 'M4 3.5h6.5v7H4ZM13.5 3.5H20v7h-6.5ZM4 13.5h6.5v7H4ZM13.5 13.5H20v7h-6.5Z',
  calendar: 'M5 5h14a1.5 1.5 0 0 1 1.5 1.5v12A1.5 1.5 0 0 1 19 20H5a1.5 1.5 0 0 1-1.5-1.5v-12A1.5 1.5 0 0 1 5 5ZM3.5 9.5h17M8 3v4M16 3v4',
  chat: 'M5 4.5h14A1.5 1.5 0 0 1 20.5 6v9.5A1.5 1.5 0 0 1 19 17h-7l-4.5 4v-4H5a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 5 4.5ZM7.5 9h9M7.5 12.5h6',
  reply: 'M9.5 5.5l-6 6 6 6M3.5 11.5h10a7 7 0 0 1 7 7',
  hand: 'M7.5 12.5V6.25a1.5 1.5 0 0 1 3 0V11M10.5 10.5V4.5a1.5 1.5 0 0 1 3 0v6M13.5 10.5V5.75a1.5 1.5 0 0 1 3 0v6M16.5 11V8.5a1.5 1.5 0 0 1 3 0V15a6.5 6.5 0 0 1-6.5 6.5c-2.6 0-4.2-1-5.5-3L4.3 14a1.5 1.5 0 0 1 2.4-1.8l.8 1',
  check: 'M4.5 12.5l5 5 10-11',
} as const;

export type IconName = keyof typeof shapes;

/** How some are drawn otherwise: thicker, or towards where the text runs. */
const manners: Partial<Record<IconName, string>> = { more: 'icon bold', leave: 'icon directed' };

/** A drawing beside words; the words carry the meaning. */
export function Icon({ name }: { name: IconName }): ReactElement {
  return <Shape lines={shapes[name]} manner={manners[name]} />;
}

/** A drawing that only one part of the page needs. */
export function Shape({ lines, manner = 'icon' }: { lines: string; manner?: string | undefined }): ReactElement {
  return (
    <svg className={manner} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={lines} />
    </svg>
  );
}
