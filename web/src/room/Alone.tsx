import { useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Invite } from './Invite';

/** What somebody reads who has nobody to talk to yet. */
export function Alone({ link, everMet }: { link: string; everMet: boolean }): ReactElement {
  // Said once: the words do not change under the reader's eyes.
  const [left] = useState(everMet);
  return (
    <section className="alone" aria-labelledby="alone-title">
      <h2 id="alone-title">{t(left ? 'room.alone.left' : 'room.alone.title')}</h2>
      <p className="quiet">{t('room.alone.text')}</p>
      <Invite link={link} />
    </section>
  );
}
