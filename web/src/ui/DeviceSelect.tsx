import { useId, type ReactElement } from 'react';
import type { Choice } from '../media/choices';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t, type PlainKey } from '../messages';

const words = {
  mic: { label: 'mic.label', usual: 'mic.default' },
  camera: { label: 'camera.label', usual: 'camera.default' },
  speaker: { label: 'speaker.label', usual: 'speaker.default' },
} as const satisfies Record<Choice, Record<'label' | 'usual', PlainKey>>;

// Where sound is played, not every browser lets a page choose.
const canSetSpeaker = 'setSinkId' in HTMLMediaElement.prototype;

interface Props {
  of: Choice;
  desk: Desk;
  studio: Studio;
  /** Below a heading that says the same, the label is only read out. */
  headed?: boolean;
}

/** Which microphone, camera or speaker is used; the first entry leaves it to the browser. */
export function DeviceSelect({ of, desk, studio, headed = false }: Props): ReactElement | null {
  const id = useId();
  if (of === 'speaker' && !canSetSpeaker) return null;
  const { label, usual } = words[of];
  const devices = desk.devices[of];
  // A remembered device that is not plugged in today is the usual one today.
  const value = devices.some(({ deviceId }) => deviceId === desk.chosen[of]) ? desk.chosen[of] : '';
  return (
    <div className="field">
      <label htmlFor={id} className={headed ? 'sr-only' : undefined}>
        {t(label)}
      </label>
      <select id={id} value={value} onChange={(event) => void studio.choose(of, event.target.value)}>
        <option value="">{t(usual)}</option>
        {devices.map((device, i) => (
          <option key={device.deviceId} value={device.deviceId}>
            {device.label || t('device.unnamed', { n: i + 1 })}
          </option>
        ))}
      </select>
    </div>
  );
}
