import type { ReactElement } from 'react';
import { linkify } from './linkify';

/** A text whose addresses are links. Nothing else in it is interpreted. */
export function Linkified({ text }: { text: string }): ReactElement {
  return (
    <>
      {linkify(text).map(({ text, href, host }, i) =>
        href === undefined ? (
          text
        ) : (
          <a key={i} href={href} dir="ltr" target="_blank" rel="noopener noreferrer">
            {text}
            {host !== undefined && <span className="small quiet"> ({host})</span>}
          </a>
        ),
      )}
    </>
  );
}
