import type { ReactElement } from 'react';
import { t } from '../../messages';
import { PinButton } from './PinButton';
import { RemoteVideo } from './RemoteVideo';
import { frameStyle, type TilePosition } from './tilePosition';
import type { TrackReference } from './useRemoteTracks';

/** A screen that somebody shares. */
export function ScreenShareTile({ id, screen, frame, large }: TilePosition & { id: string; screen: TrackReference }): ReactElement {
  const name = screen.participant.name || screen.participant.identity;
  return (
    <li className="tile share" style={frameStyle(frame)} data-large={large || undefined}>
      <RemoteVideo of={screen} uncropped />
      <PinButton id={id} label={t('pin.screen', { name })} />
      <p className="tile-name">
        <span className="tile-label">{t('room.screenOf', { name })}</span>
      </p>
    </li>
  );
}

/** The visitor's own screen is not shown, because it would contain itself. */
export function OwnScreenShareTile({ frame, large }: TilePosition): ReactElement {
  return (
    <li className="tile share own" style={frameStyle(frame)} data-large={large || undefined}>
      <p>{t('room.screenOfYou')}</p>
      <p className="small quiet">{t('room.screenOfYou.text')}</p>
    </li>
  );
}
