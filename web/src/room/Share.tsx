import { VideoTrack, type TrackReference } from '@livekit/components-react';
import type { ReactElement } from 'react';
import { t } from '../messages';

/** A shared screen; your own is only said, for a picture of itself in itself helps nobody. */
export function Share({ screen, name }: { screen: TrackReference | null; name: string }): ReactElement {
  if (!screen) {
    return (
      <section className="share own" aria-label={t('room.screenOfYou')}>
        <p>{t('room.screenOfYou')}</p>
        <p className="quiet">{t('room.screenOfYou.text')}</p>
      </section>
    );
  }
  return (
    <section className="share" aria-label={t('room.screenOf', { name })}>
      <VideoTrack className="picture whole" trackRef={screen} aria-hidden="true" />
      <p className="tile-name">{t('room.screenOf', { name })}</p>
    </section>
  );
}
