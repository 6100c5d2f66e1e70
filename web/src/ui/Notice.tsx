import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { Brand } from './Brand';

interface Props {
  /** The room's title, if it is known. */
  room?: string | null;
  title: string;
  children: ReactNode;
  actions?: ReactNode;
}

/** A page with one message and the next step. */
export function Notice({ room, title, children, actions }: Props): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [title]);
  return (
    <main className="notice">
      <Brand />
      <div className="notice-body">
        <div className="notice-text">
          {room && (
            <p className="quiet room-name">
              <bdi>{room}</bdi>
            </p>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {children}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </div>
    </main>
  );
}
