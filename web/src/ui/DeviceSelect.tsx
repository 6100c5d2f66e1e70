import { type ReactElement, useId } from 'react';
import type { DeviceKind } from '../media/devicePreferences';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import { t } from '../messages';
import { deviceLabelKeys, deviceOptions } from './deviceOptions';

interface Props {
  of: DeviceKind;
  mediaState: MediaState;
  localMedia: LocalMedia;
  /** The label is only for screen readers, because a heading says the same. */
  labelHidden?: boolean;
}

/** Selects a microphone, camera or speaker. The first entry is the default device. */
export function DeviceSelect({ of, mediaState, localMedia, labelHidden = false }: Props): ReactElement | null {
  const id = useId();
  const { options, value } = deviceOptions(mediaState, of);
  if (options.length === 0) return null;
  return (
    <div className="field">
      <label htmlFor={id} className={labelHidden ? 'sr-only' : undefined}>
        {t(deviceLabelKeys[of])}
      </label>
      <select id={id} value={value} onChange={(event) => void localMedia.selectDevice(of, event.target.value)}>
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
