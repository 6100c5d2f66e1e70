import type { ReactElement } from 'react';
import { canChoose, type Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { DeviceFault } from '../ui/DeviceFault';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Withheld } from '../ui/Withheld';
import { Meter } from './Meter';

/** The microphone before joining: explained, then asked for, then tested. Never in the way of joining. */
export function MicField({ desk, studio, still }: { desk: Desk; studio: Studio; still: boolean }): ReactElement {
  const { mic, camera } = desk;
  const both = desk.video && desk.may.camera && desk.cameraOn && camera.is === 'off';
  return (
    <div className="device">
      {/* It stays while the choice is carried out: who makes it with keys has the focus there. */}
      {canChoose(desk, 'mic') && <DeviceSelect of="mic" desk={desk} studio={studio} />}
      {mic.is === 'off' && (
        <>
          <p>{t(both ? 'both.ask' : 'mic.ask')}</p>
          <button type="button" className="secondary" onClick={() => void studio.allow()}>
            {t(both ? 'both.allow' : 'mic.allow')}
          </button>
        </>
      )}
      {mic.is === 'asking' && (
        <p className="patient" role="status">
          {t('mic.asking')}
        </p>
      )}
      {mic.is === 'live' && !mic.withheld && <Meter track={mic.track} still={still} />}
      {mic.is === 'live' && mic.withheld && (
        <div className="device-fault" role="status">
          <Withheld kind="mic" onAgain={() => void studio.again('mic')} />
        </div>
      )}
      {mic.is === 'failed' && (
        <div className="device-fault" role="status">
          <DeviceFault kind="mic" fault={mic.fault} onAgain={() => void studio.again('mic')} />
          <p className="small quiet">{t('mic.without')}</p>
        </div>
      )}
    </div>
  );
}
