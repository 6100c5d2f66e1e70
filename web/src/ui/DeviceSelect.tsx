import { type ReactElement, useId } from 'react';
import type { DeviceKind } from '../media/devicePreferences';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import { type PlainKey, t } from '../messages';

const labelKeys = {
  mic: { label: 'mic.label', usual: 'mic.default' },
  camera: { label: 'camera.label', usual: 'camera.default' },
  speaker: { label: 'speaker.label', usual: 'speaker.default' },
} as const satisfies Record<DeviceKind, Record<'label' | 'usual', PlainKey>>;

// Not every browser can select a speaker.
const canSetSpeaker = 'setSinkId' in HTMLMediaElement.prototype;

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
  if (of === 'speaker' && !canSetSpeaker) return null;
  const { label, usual: defaultLabel } = labelKeys[of];
  const devices = mediaState.devices[of];
  const defaultName = mediaState.devices.defaultLabels[of];
  // A remembered device that is not connected counts as the default device.
  const value = devices.some(({ deviceId }) => deviceId === mediaState.selectedDevices[of]) ? mediaState.selectedDevices[of] : '';
  return (
    <div className="field">
      <label htmlFor={id} className={labelHidden ? 'sr-only' : undefined}>
        {t(label)}
      </label>
      <select id={id} value={value} onChange={(event) => void localMedia.selectDevice(of, event.target.value)}>
        <option value="">{defaultName ? t('device.default', { name: defaultName }) : t(defaultLabel)}</option>
        {devices.map((device, i) => (
          <option key={device.deviceId} value={device.deviceId}>
            {device.label || t('device.unnamed', { n: i + 1 })}
          </option>
        ))}
      </select>
    </div>
  );
}
