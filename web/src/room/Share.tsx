import type { ReactElement } from 'react';
import { t } from '../messages';
import { RemotePicture } from './RemotePicture';
import { PinButton } from './stage/PinButton';
import { styleOf, type Place } from './stage/place';
import type { TrackReference } from './useRemoteTracks';

/** A screen that somebody shares. */
export function Share({ id, screen, frame, large }: Place & { id: string; screen: TrackReference }): ReactElement {
  const name = screen.participant.name || screen.participant.identity;
  return (
    <li className="tile share" style={styleOf(frame)} data-large={large || undefined}>
      <RemotePicture of={screen} whole />
      <PinButton id={id} label={t('pin.screen', { name })} />
      <p className="tile-name">
        <span className="tile-who">{t('room.screenOf', { name })}</span>
      </p>
    </li>
  );
}

/** One's own is only said, for a picture of itself in itself helps nobody. */
export function OwnShare({ frame, large }: Place): ReactElement {
  return (
    <li className="tile share own" style={styleOf(frame)} data-large={large || undefined}>
      <p>{t('room.screenOfYou')}</p>
      <p className="small quiet">{t('room.screenOfYou.text')}</p>
    </li>
  );
}
