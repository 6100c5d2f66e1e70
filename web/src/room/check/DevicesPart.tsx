import { useEffect, useState, type ReactElement } from 'react';
import { watchLevel } from '../../media/level';
import { canChoose, type Desk } from '../../media/desk';
import type { Studio } from '../../media/studio';
import { t } from '../../messages';
import { Meter } from '../../screens/Meter';
import { DeviceFault } from '../../ui/DeviceFault';
import { DeviceSelect } from '../../ui/DeviceSelect';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { Withheld } from '../../ui/Withheld';
import { playTones } from './tones';

/** Microphone, camera and speaker, in sentences, with what helps. */
export function DevicesPart({ desk, studio }: { desk: Desk; studio: Studio }): ReactElement {
  const [played, setPlayed] = useState(0);
  return (
    <>
      {desk.may.mic && (
        <section className="sheet-part">
          <h3>{t('mic.label')}</h3>
          {canChoose(desk, 'mic') && <DeviceSelect of="mic" desk={desk} studio={studio} headed />}
          <MicFinding desk={desk} studio={studio} />
          <NoiseSwitch desk={desk} studio={studio} />
        </section>
      )}
      {desk.video && desk.may.camera && (
        <section className="sheet-part">
          <h3>{t('camera.label')}</h3>
          {canChoose(desk, 'camera') && <DeviceSelect of="camera" desk={desk} studio={studio} headed />}
          <CameraFinding desk={desk} studio={studio} />
        </section>
      )}
      <section className="sheet-part">
        <h3>{t('speaker.label')}</h3>
        <DeviceSelect of="speaker" desk={desk} studio={studio} headed />
        <div>
          <button
            type="button"
            className="secondary"
            onClick={() => {
              setPlayed(played + 1);
              void playTones(desk.chosen.speaker);
            }}
          >
            {t('check.speaker.play')}
          </button>
        </div>
        <p role="status">{played > 0 && t('check.speaker.heard')}</p>
      </section>
    </>
  );
}

function MicFinding({ desk: { mic }, studio }: { desk: Desk; studio: Studio }): ReactElement {
  const silent = useSilence(mic.is === 'live' ? mic.track : null);
  switch (mic.is) {
    case 'off':
      return (
        <>
          <p>{t('mic.ask')}</p>
          <div>
            <button type="button" className="secondary" onClick={() => void studio.again('mic')}>
              {t('mic.allow')}
            </button>
          </div>
        </>
      );
    case 'asking':
      return <p role="status">{t('mic.asking')}</p>;
    case 'live':
      return mic.withheld ? (
        <div className="device-fault" role="status">
          <Withheld kind="mic" onAgain={() => void studio.again('mic')} />
        </div>
      ) : (
        <>
          <Meter track={mic.track} />
          <p role="status">{silent && t('check.mic.silent')}</p>
        </>
      );
    case 'failed':
      return <DeviceFault kind="mic" fault={mic.fault} onAgain={() => void studio.again('mic')} />;
  }
}

function CameraFinding({ desk: { camera, cameraOn }, studio }: { desk: Desk; studio: Studio }): ReactElement {
  switch (camera.is) {
    case 'off':
      return <p>{t(cameraOn ? 'check.camera.asks' : 'lobby.camera.off')}</p>;
    case 'asking':
      return <p role="status">{t('camera.asking')}</p>;
    case 'live':
      return camera.withheld ? (
        <div className="device-fault" role="status">
          <Withheld kind="camera" onAgain={() => void studio.again('camera')} />
        </div>
      ) : (
        <p>{t('check.camera.works')}</p>
      );
    case 'failed':
      return <DeviceFault kind="camera" fault={camera.fault} onAgain={() => void studio.again('camera')} />;
  }
}

/** A microphone in a quiet room still hums; one that is switched off gives nothing at all. */
const hum = 0.02;
const patience = 6_000;

/** Whether nothing at all has come from the track for some seconds. */
function useSilence(track: MediaStreamTrack | null): boolean {
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    setSilent(false);
    if (!track) return;
    let since = Date.now();
    return watchLevel(
      track,
      (level) => {
        if (level > hum) since = Date.now();
        setSilent(Date.now() - since > patience);
      },
      200,
    );
  }, [track]);
  return silent;
}
