import { useId, type ReactElement } from 'react';
import { t } from '../messages';

interface Props {
  label: string;
  /** What the entry is called that leaves the choice to the browser. */
  usual: string;
  devices: MediaDeviceInfo[];
  chosen: string;
  onChoose: (id: string) => void;
}

export function DeviceSelect({ label, usual, devices, chosen, onChoose }: Props): ReactElement {
  const id = useId();
  // A remembered device that is not plugged in today is the usual one today.
  const value = devices.some(({ deviceId }) => deviceId === chosen) ? chosen : '';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{usual}</option>
        {devices.map((device, i) => (
          <option key={device.deviceId} value={device.deviceId}>
            {device.label || t('device.unnamed', { n: i + 1 })}
          </option>
        ))}
      </select>
    </div>
  );
}
