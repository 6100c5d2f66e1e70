import type { ReactElement } from 'react';
import { IconShape } from '../../ui/Icon';
import type { Reaction } from './reactions';

// Drawn as paths, because not every system font has such emoji.
const shapes: Record<Reaction, string> = {
  thumbs_up: 'M7 11v9.5H3.5V11ZM7 11l4-7.5a2 2 0 0 1 2.6 2.4L12.8 9.5h5.6a2 2 0 0 1 2 2.4l-1.3 7a2 2 0 0 1-2 1.6H7',
  heart: 'M12 20.5S3.5 15.4 3.5 9.2A4.6 4.6 0 0 1 12 7a4.6 4.6 0 0 1 8.5 2.2c0 6.2-8.5 11.3-8.5 11.3Z',
  laughing: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM7 8.5l2.5 1.25L7 11M17 8.5l-2.5 1.25L17 11M7.5 13.5h9a4.5 4.5 0 0 1-9 0Z',
  clapping:
    'M5.5 4.5l1.5 2M12 2.5V5M18.5 4.5l-1.5 2M8.5 14.5V9.75a1.25 1.25 0 0 1 2.5 0V13M11 12.5V8.75a1.25 1.25 0 0 1 2.5 0v3.75M13.5 12.5V9.5a1.25 1.25 0 0 1 2.5 0v4M16 13v-1.5a1.25 1.25 0 0 1 2.5 0V16a5.5 5.5 0 0 1-5.5 5.5c-2.2 0-3.6-.9-4.7-2.5L5.8 15.6a1.25 1.25 0 0 1 2-1.5l.7.8',
  surprised: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM8.75 9.5v.75M15.25 9.5v.75M12 17.75a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5Z',
};

export function ReactionIcon({ reaction }: { reaction: Reaction }): ReactElement {
  return <IconShape path={shapes[reaction]} />;
}
