import type { MouseEvent, ReactElement, ReactNode } from 'react';
import { navigate } from '../router';

interface Props {
  to: string;
  className?: string;
  current?: boolean;
  onGo?: () => void;
  children: ReactNode;
}

/** A link within the console, which opens without loading the page again. */
export function Link({ to, className, current, onGo, children }: Props): ReactElement {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
    onGo?.();
  };
  return (
    <a href={to} className={className} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
