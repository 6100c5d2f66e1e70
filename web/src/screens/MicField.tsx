import type { ReactElement } from 'react';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { DeviceFault } from '../ui/DeviceFault';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Meter } from './Meter';

/** The microphone before joining: explained, then asked for, then tested. Never in the way of joining. */
export function MicField({ desk, studio, still }: { desk: Desk; studio: Studio; still: boolean }): ReactElement {
  const { mic, camera } = desk;
  const both = desk.video && desk.may.camera && desk.cameraOn && camera.is === 'off';
  switch (mic.is) {
    case 'off':
      return (
        <div className="device">
          <p>{t(both ? 'both.ask' : 'mic.ask')}</p>
          <button type="button" className="secondary" onClick={() => void studio.allow()}>
            {t(both ? 'both.allow' : 'mic.allow')}
          </button>
        </div>
      );
    case 'asking':
      return (
        <div className="device">
          <p className="patient" role="status">
            {t('mic.asking')}
          </p>
        </div>
      );
    case 'live':
      return (
        <div className="device">
          <DeviceSelect
            label={t('mic.label')}
            usual={t('mic.default')}
            devices={desk.devices.mics}
            chosen={desk.chosen.mic}
            onChoose={(id) => void studio.choose('mic', id)}
          />
          <Meter track={mic.track} still={still} />
        </div>
      );
    case 'failed':
      return (
        <div className="device" role="status">
          <DeviceFault kind="mic" fault={mic.fault} onAgain={() => void studio.again('mic')} />
          <p className="small quiet">{t('mic.without')}</p>
        </div>
      );
  }
}
