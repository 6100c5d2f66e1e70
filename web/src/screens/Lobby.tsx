import { type FormEvent, type ReactElement, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { Preview, Role } from '../api/client';
import { devicePreferences } from '../media/devicePreferences';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import { type PlainKey, t } from '../messages';
import { isForgetful } from '../state/storage';
import type { ServerClock } from '../time/serverClock';
import { useServerTime } from '../time/useServerTime';
import { Brand } from '../ui/Brand';
import { LanguageSelect } from '../ui/LanguageSelect';
import { TestMark } from '../ui/TestMark';
import { admissionTimeOf, isTooEarlyForDevices, startOf } from '../visit/schedule';
import type { LobbyNotice, Visit } from '../visit/state';
import { cleanName } from './cleanName';
import { DevicePreview } from './DevicePreview';
import { JoinErrorText } from './JoinErrorText';
import { LobbyDevices } from './LobbyDevices';
import type { LazyScreens } from './lazyScreens';
import { Waiting } from './Waiting';
import { Welcome } from './Welcome';
import { WhoIsHere } from './WhoIsHere';

interface Props {
  lobby: Extract<Visit, { at: 'lobby' }>;
  /** The name from the address. */
  presetName: string | null;
  localMedia: LocalMedia;
  clock: ServerClock;
  /** The button for the connection and device check. */
  check: ReactNode;
  /** The parts of a scheduled room. Undefined when nothing is scheduled. */
  scheduled: Pick<LazyScreens, 'Schedule' | 'CalendarButton'> | undefined;
  onJoin: (name: string) => void;
  /** Joins automatically under this name when the room opens; null cancels that. */
  onJoinOnOpen: (name: string | null) => void;
  /** Stops waiting for a host. */
  onStopWaiting: () => void;
}

const roleKeys = {
  host: 'lobby.host',
  cohost: 'lobby.cohost',
  guest: 'lobby.guest',
} as const satisfies Record<Role, PlainKey>;

const noticeKeys = {
  linkTaken: 'lobby.linkTaken',
  free: 'lobby.free',
  full: 'lobby.full',
  open: 'lobby.open',
  rejoin: 'lobby.rejoin',
} as const satisfies Record<LobbyNotice, PlainKey>;

/** Explains which devices stay off in this room. */
function missingDevicesText({ room_type, features, you: { may_send } }: Preview): string | null {
  const cameraOff = room_type === 'video' && !may_send.camera;
  if (!may_send.microphone) return t(cameraOff && features.camera ? 'lobby.neither' : 'lobby.noMic');
  if (!cameraOff) return null;
  return t(features.camera ? 'lobby.noCamera' : 'lobby.noCameras');
}

/** The first view: the visitor's devices and name, the room and the button to join. */
export function Lobby({
  lobby,
  presetName,
  localMedia,
  clock,
  check,
  scheduled,
  onJoin,
  onJoinOnOpen,
  onStopWaiting,
}: Props): ReactElement {
  const { preview, joinAttempt, error, notice, joinOnOpen } = lobby;
  const { you } = preview;
  const waiting = joinAttempt !== null && joinAttempt.knocks > 0;
  // Drawing the camera and the level would delay joining, especially on slow devices. The
  // room shows the state of the devices.
  const paused = joinAttempt !== null && !waiting;
  const video = preview.room_type === 'video';
  const { microphone: micAllowed, camera: cameraAllowed } = you.may_send;
  const showCamera = video && cameraAllowed;
  const missingDevices = missingDevicesText(preview);
  const mediaState = usePausableMediaState(localMedia, paused);
  const [name, setName] = useState(
    () => lobby.enteredName ?? (you.name || (you.link === 'taken' ? '' : cleanName(presetName ?? '') || devicePreferences.name())),
  );
  const [forgetful] = useState(isForgetful);
  const [nameMissing, setNameMissing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  const start = startOf(preview);
  const opensAt = admissionTimeOf(preview);
  const now = useServerTime(clock, start !== null);
  const early = start !== null && now < start;
  const closed = opensAt !== null && now < opensAt;
  const later = isTooEarlyForDevices(preview, now);

  useEffect(() => {
    // Not on touch screens, where it would open the keyboard.
    if (!field.current?.value && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  useEffect(() => {
    // Now or, a long time before the start, when the devices open by themselves.
    if (joinOnOpen && !later) void localMedia.prepare();
  }, [joinOnOpen, later, localMedia]);

  function join(event: FormEvent): void {
    event.preventDefault();
    const finalName = cleanName(name);
    setNameMissing(finalName === '');
    if (finalName === '') {
      field.current?.focus();
      return;
    }
    if (joinAttempt) return;
    if (closed && joinOnOpen) {
      onJoinOnOpen(null);
      return;
    }
    if (you.role === 'guest') devicePreferences.setName(finalName);
    if (closed) {
      onJoinOnOpen(finalName);
      return;
    }
    // Not awaited, because the visitor may take long to answer the permission prompt.
    void localMedia.prepare();
    onJoin(finalName);
  }

  function changeName(text: string): void {
    setName(text);
    setNameMissing(false);
    if (joinOnOpen) onJoinOnOpen(cleanName(text) || null);
  }

  const nameError = nameMissing ? t('lobby.name.missing') : null;
  const devices = { mediaState, localMedia, showCamera, showMic: micAllowed, later, paused };
  return (
    <main className={showCamera ? 'lobby with-camera' : 'lobby'}>
      <header className="lobby-top">
        <Brand />
        <LanguageSelect className="lobby-language" />
      </header>
      {(showCamera || micAllowed) && <DevicePreview {...devices} name={name} />}
      <div className="lobby-main">
        <div className="lobby-room">
          <h1>
            <bdi>{preview.title}</bdi>
          </h1>
          {preview.test && <TestMark />}
          {/* The preview is from before the visitor asked. */}
          {start === null ? !waiting && <WhoIsHere preview={preview} /> : scheduled && <scheduled.Schedule start={start} now={now} />}
        </div>
        <form className="lobby-form" onSubmit={join} noValidate>
          <div className="field">
            <div className="field-head">
              <label htmlFor={id}>{t('lobby.name')}</label>
              <span id={`${id}-hint`} className={nameError ? 'small wrong' : 'small quiet'}>
                {nameError ?? t(roleKeys[you.role])}
              </span>
            </div>
            <input
              ref={field}
              id={id}
              value={name}
              dir={name ? 'auto' : undefined}
              onChange={(event) => changeName(event.target.value)}
              readOnly={waiting}
              maxLength={255}
              autoComplete="name"
              autoCapitalize="words"
              enterKeyHint="go"
              required
              aria-invalid={nameError !== null}
              aria-describedby={`${id}-hint`}
            />
          </div>
          <div className="lobby-join">
            {closed && !joinAttempt ? (
              <button type="submit" className={joinOnOpen ? 'primary pressed' : 'primary'}>
                {t(joinOnOpen ? 'lobby.waits.cancel' : 'lobby.wait')}
              </button>
            ) : (
              <button type="submit" className="primary" aria-disabled={joinAttempt !== null}>
                {t(
                  waiting
                    ? 'waiting.button'
                    : joinAttempt
                      ? 'lobby.joining'
                      : early
                        ? 'lobby.openNow'
                        : you.waits
                          ? 'waiting.ask'
                          : lobby.joinedAt !== null
                            ? 'left.back'
                            : 'lobby.join',
                )}
              </button>
            )}
            {waiting && (
              <button type="button" className="secondary" onClick={onStopWaiting}>
                {t('waiting.stop')}
              </button>
            )}
          </div>
          {/* Below the button, so that no text moves it. */}
          <JoinErrorText error={error} />
          {start !== null && (
            <p className="small quiet" role="status">
              {closed
                ? t(joinOnOpen ? 'lobby.waits' : you.role === 'host' ? 'lobby.hostEarly' : 'lobby.early')
                : early && t('lobby.openNow.text')}
            </p>
          )}
          <div role="status" className="lobby-notice">
            {waiting ? <Waiting hostPresent={joinAttempt.hostPresent} /> : notice && <p>{t(noticeKeys[notice])}</p>}
          </div>
        </form>
        {start !== null && scheduled && <scheduled.CalendarButton preview={preview} start={start} />}
        {preview.welcome_message && <Welcome text={preview.welcome_message} />}
      </div>
      <div className="lobby-devices">
        {missingDevices && <p className="small quiet">{missingDevices}</p>}
        {forgetful && <p className="small quiet">{t('lobby.forgetful')}</p>}
        <LobbyDevices {...devices} />
        {check}
      </div>
    </main>
  );
}

/** Returns the media state. While paused, only the visitor's own changes update it. */
function usePausableMediaState({ state }: LocalMedia, paused: boolean): MediaState {
  const frozen = useRef(state.get());
  return useSyncExternalStore(state.subscribe, () => {
    const { micOn, cameraOn, selectedDevices } = frozen.current;
    const now = state.get();
    if (!paused || now.micOn !== micOn || now.cameraOn !== cameraOn || now.selectedDevices !== selectedDevices) frozen.current = now;
    return frozen.current;
  });
}
