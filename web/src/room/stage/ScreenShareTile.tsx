import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { Switch } from '../../ui/Switch';
import { useMeetingMedia, useMeetingPeople } from '../meeting';
import { PinButton } from './PinButton';
import { RemoteVideo } from './RemoteVideo';
import { frameStyle, type TilePosition } from './tilePosition';
import type { TrackReference } from './useRemoteTracks';
import { useZoom } from './useZoom';
import { ZoomButtons } from './ZoomButtons';
import { clampZoom } from './zoom';

/** A screen that somebody shares. A large one can be enlarged further. */
export function ScreenShareTile({ id, screen, frame, large }: TilePosition & { id: string; screen: TrackReference }): ReactElement {
  const { identity } = screen.participant;
  const name =
    useMeetingPeople().people.find(({ person }) => person.identity === identity)?.person.name ?? (screen.participant.name || identity);
  const item = useRef<HTMLLIElement>(null);
  const controls = useZoom(item, large);
  const { factor, x, y } = frame ? clampZoom(controls.zoom, frame) : controls.zoom;
  return (
    <li
      ref={item}
      className="tile share"
      style={frameStyle(frame)}
      data-key={id}
      data-large={large || undefined}
      data-zoomed={factor > 1 || undefined}
    >
      <div className="zoomed" style={{ transform: `translate(${x}px, ${y}px) scale(${factor})` }}>
        <RemoteVideo of={screen} className="picture uncropped" />
      </div>
      <PinButton id={id} label={t('pin.screen', { name })} />
      {large && <ZoomButtons {...controls} />}
      <p className="tile-name">
        <span className="tile-label">{t('room.screenOf', { name })}</span>
      </p>
    </li>
  );
}

/** The visitor's own screen is not shown, because it would contain itself. How it is sent can be chosen here. */
export function OwnScreenShareTile({ id, frame, large }: TilePosition & { id: string }): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  return (
    <li className="tile share own" style={frameStyle(frame)} data-key={id} data-large={large || undefined}>
      <p>{t('room.screenOfYou')}</p>
      <p className="small quiet">{t('room.screenOfYou.text')}</p>
      <Switch label={t('share.motion')} on={mediaState.screenMotion} onChange={(on) => localMedia.setScreenMotion(on)} />
    </li>
  );
}
