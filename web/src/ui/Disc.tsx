import type { ReactElement } from 'react';
import { hueOf } from './hue';
import { initials } from './initials';

interface Props {
  identity: string;
  name: string;
  className?: string;
}

/** A person without a picture: the initials in a circle of the person's hue. */
export function Disc({ identity, name, className = 'disc' }: Props): ReactElement {
  return (
    <span className={`${className} initials`} data-hue={hueOf(identity)} aria-hidden="true">
      {initials(name)}
    </span>
  );
}
