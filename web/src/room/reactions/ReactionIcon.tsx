import type { ReactElement } from 'react';
import type { Reaction } from './reactions';

interface Shape {
  path: string;
  fill?: string;
}

const [skin, ink, red, white, blue] = ['#ffc83d', '#5f3b00', '#e5383b', '#ffffff', '#3f8fd2'];
const face = { path: 'M12 21.5a9.5 9.5 0 1 0 0-19 9.5 9.5 0 0 0 0 19Z', fill: skin };

// Drawn as paths, because not every system has a font with such emoji.
const shapes: Record<Reaction, readonly Shape[]> = {
  thumbs_up: [
    { path: 'M7 11l4-7.5a2 2 0 0 1 2.6 2.4L12.8 9.5h5.6a2 2 0 0 1 2 2.4l-1.3 7a2 2 0 0 1-2 1.6H7Z', fill: skin },
    { path: 'M7 10.5v10.5H3V10.5Z', fill: blue },
  ],
  heart: [{ path: 'M12 20.5S3.5 15.4 3.5 9.2A4.6 4.6 0 0 1 12 7a4.6 4.6 0 0 1 8.5 2.2c0 6.2-8.5 11.3-8.5 11.3Z', fill: red }],
  laughing: [face, { path: 'M7 8.5l2.5 1.25L7 11M17 8.5l-2.5 1.25L17 11' }, { path: 'M7 13.5h10a5 5 0 0 1-10 0Z', fill: white }],
  clapping: [
    { path: 'M5.5 4.5l1.5 2M12 2.5V5M18.5 4.5l-1.5 2' },
    {
      path: 'M8.5 14.5V9.75a1.25 1.25 0 0 1 2.5 0V8.75a1.25 1.25 0 0 1 2.5 0V9.5a1.25 1.25 0 0 1 2.5 0v2a1.25 1.25 0 0 1 2.5 0V16a5.5 5.5 0 0 1-5.5 5.5c-2.2 0-3.6-.9-4.7-2.5L5.8 15.6a1.25 1.25 0 0 1 2-1.5Z',
      fill: skin,
    },
    { path: 'M11 9.75V13M13.5 9.5v3M16 11.5V13' },
  ],
  surprised: [face, { path: 'M8.75 9v1M15.25 9v1' }, { path: 'M12 18.25a2.5 2.75 0 1 0 0-5.5 2.5 2.75 0 0 0 0 5.5Z', fill: ink }],
};

export function ReactionIcon({ reaction }: { reaction: Reaction }): ReactElement {
  return (
    <svg className="emoji" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {shapes[reaction].map(({ path, fill = 'none' }) => (
        <path key={path} d={path} fill={fill} stroke={fill === red ? '#a4161a' : ink} />
      ))}
    </svg>
  );
}
