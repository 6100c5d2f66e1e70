import type { ReactElement } from 'react';
import { t } from '../messages';
import { Linkified } from '../room/chat/Linkified';

/** The organizer's message. Addresses in it are links. */
export function Welcome({ text }: { text: string }): ReactElement {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long message scrolls, so that it has to be reachable with the keyboard
    <section className="welcome" dir="auto" aria-label={t('lobby.welcome')} tabIndex={0}>
      <Linkified text={text} />
    </section>
  );
}
