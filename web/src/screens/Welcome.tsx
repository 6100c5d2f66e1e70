import type { ReactElement } from 'react';
import { t } from '../messages';
import { linkify } from '../room/chat/linkify';

/** The organizer's message. Addresses in it are links. */
export function Welcome({ text }: { text: string }): ReactElement {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long message scrolls, so that it has to be reachable with the keyboard
    <section className="welcome" dir="auto" aria-label={t('lobby.welcome')} tabIndex={0}>
      {linkify(text).map(({ text, href, host }, i) =>
        href === undefined ? (
          text
        ) : (
          <a key={i} href={href} dir="ltr" target="_blank" rel="noopener noreferrer">
            {text}
            {host !== undefined && ` (${host})`}
          </a>
        ),
      )}
    </section>
  );
}
