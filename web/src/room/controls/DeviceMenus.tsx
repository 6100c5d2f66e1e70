import { type ReactElement, useId } from 'react';
import type { DeviceKind } from '../../media/devicePreferences';
import { canFlip, isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import { Meter } from '../../screens/Meter';
import { BlurSwitch } from '../../ui/BlurSwitch';
import { deviceLabelKeys, deviceOptions } from '../../ui/deviceOptions';
import { Icon } from '../../ui/Icon';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { useMeetingMedia } from '../meeting';

/** The microphones with the level of the one in use, and the speakers. */
export function AudioMenu(): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  const { mic } = mediaState;
  return (
    <>
      <DeviceRadios of="mic" />
      {mic.is === 'live' && isMicActive(mediaState) && <Meter track={mic.track} />}
      <NoiseSwitch mediaState={mediaState} localMedia={localMedia} />
      <DeviceRadios of="speaker" />
    </>
  );
}

/** The cameras and what is behind the visitor. */
export function VideoMenu(): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  return (
    <>
      <DeviceRadios of="camera" />
      <FlipButton />
      <BlurSwitch mediaState={mediaState} localMedia={localMedia} />
    </>
  );
}

/** Changes between the cameras on the two sides of a phone. */
export function FlipButton(): ReactElement | null {
  const { mediaState, localMedia } = useMeetingMedia();
  if (!canFlip(mediaState)) return null;
  return (
    <button type="button" className="secondary wide" onClick={() => void localMedia.flipCamera()}>
      <Icon name="flip" />
      {t('camera.flip')}
    </button>
  );
}

function DeviceRadios({ of }: { of: DeviceKind }): ReactElement | null {
  const { mediaState, localMedia } = useMeetingMedia();
  const name = useId();
  const { options, value } = deviceOptions(mediaState, of);
  if (options.length === 0) return null;
  return (
    <fieldset className="devices">
      <legend>{t(deviceLabelKeys[of])}</legend>
      {options.map(({ id, label }) => (
        <label key={id} className="device-option">
          <input type="radio" name={name} checked={id === value} onChange={() => void localMedia.selectDevice(of, id)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
