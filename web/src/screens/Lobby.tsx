import { type FormEvent, type ReactElement, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { Preview, Role } from '../api/client';
import { devicePreferences } from '../media/devicePreferences';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import { count, type PlainKey, t } from '../messages';
import { formatTimeOrDate } from '../time/dateTime';
import type { ServerClock } from '../time/serverClock';
import { useServerTime } from '../time/useServerTime';
import { Icon } from '../ui/Icon';
import { LanguageSelect } from '../ui/LanguageSelect';
import { Switch } from '../ui/Switch';
import { admissionTimeOf, startOf } from '../visit/schedule';
import type { LobbyNotice, Visit } from '../visit/state';
import { CameraField } from './CameraField';
import { JoinErrorText } from './JoinErrorText';
import { MicField } from './MicField';
import type { Schedule } from './Schedule';
import { Waiting } from './Waiting';

interface Props {
  lobby: Extract<Visit, { at: 'lobby' }>;
  /** The name from the address. */
  presetName: string | null;
  localMedia: LocalMedia;
  clock: ServerClock;
  /** The button for the connection and device check. */
  check: ReactNode;
  /** Undefined when nothing is scheduled. */
  Schedule: typeof Schedule | undefined;
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
  open: 'lobby.open',
} as const satisfies Record<LobbyNotice, PlainKey>;

/** Explains which devices stay off in this room. */
function missingDevicesText({ room_type, features, you: { may_send } }: Preview): string | null {
  const cameraOff = room_type === 'video' && !may_send.camera;
  if (!may_send.microphone) return t(cameraOff && features.camera ? 'lobby.neither' : 'lobby.noMic');
  if (!cameraOff) return null;
  return t(features.camera ? 'lobby.noCamera' : 'lobby.noCameras');
}

/** The start time of an open room, if it was scheduled, and the number of people. */
function roomStatus({ participants, start_time, server_time }: Preview): string {
  const people = participants === 0 ? t('lobby.nobody') : count('lobby.people', participants);
  if (!start_time) return people;
  const [start, now] = [Date.parse(start_time), Date.parse(server_time)];
  return `${t(start > now ? 'schedule.starts' : 'schedule.started', { when: formatTimeOrDate(start, now) })} · ${people}`;
}

/** The first view: the visitor's devices and name, the room and the button to join. */
export function Lobby({ lobby, presetName, localMedia, clock, check, Schedule, onJoin, onJoinOnOpen, onStopWaiting }: Props): ReactElement {
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
    () => lobby.enteredName ?? (you.name || (you.link === 'taken' ? '' : (presetName ?? devicePreferences.name()))),
  );
  const [nameMissing, setNameMissing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  const start = startOf(preview);
  const opensAt = admissionTimeOf(preview);
  const now = useServerTime(clock, start !== null);
  const early = start !== null && now < start;
  const closed = opensAt !== null && now < opensAt;

  useEffect(() => {
    // Not on touch screens, where it would open the keyboard.
    if (!field.current?.value && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  function join(event: FormEvent): void {
    event.preventDefault();
    const trimmedName = name.trim();
    setNameMissing(trimmedName === '');
    if (trimmedName === '') {
      field.current?.focus();
      return;
    }
    if (joinAttempt) return;
    if (closed && joinOnOpen) {
      onJoinOnOpen(null);
      return;
    }
    if (you.role === 'guest') devicePreferences.setName(trimmedName);
    // Not awaited, because the visitor may take long to answer the permission prompt.
    void localMedia.prepare();
    if (closed) onJoinOnOpen(trimmedName);
    else onJoin(trimmedName);
  }

  function changeName(text: string): void {
    setName(text);
    setNameMissing(false);
    if (joinOnOpen) onJoinOnOpen(text.trim() || null);
  }

  const nameError = nameMissing ? t('lobby.name.missing') : null;
  return (
    <main className={showCamera ? 'lobby with-camera' : 'lobby'}>
      <LanguageSelect className="lobby-language" />
      <header className="lobby-room">
        <h1>
          <bdi>{preview.title}</bdi>
        </h1>
        {start === null ? (
          <p className="quiet">{roomStatus(preview)}</p>
        ) : (
          Schedule && <Schedule preview={preview} start={start} now={now} />
        )}
        {preview.welcome_message && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a long message scrolls, so that it has to be reachable with the keyboard
          <section className="welcome" dir="auto" aria-label={t('lobby.welcome')} tabIndex={0}>
            {preview.welcome_message}
          </section>
        )}
      </header>
      {showCamera && <CameraField mediaState={mediaState} localMedia={localMedia} name={name} paused={paused} />}
      <form className="lobby-form" onSubmit={join} noValidate>
        <div role="status" className="lobby-notice">
          {waiting ? <Waiting /> : notice && <p>{t(noticeKeys[notice])}</p>}
        </div>
        <div className="field">
          <label htmlFor={id}>{t('lobby.name')}</label>
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
          <p id={`${id}-hint`} className={nameError ? 'small wrong' : 'small quiet'}>
            {nameError ?? t(roleKeys[you.role])}
          </p>
        </div>
        {missingDevices && <p className="quiet">{missingDevices}</p>}
        {micAllowed && (
          <>
            <MicField mediaState={mediaState} localMedia={localMedia} paused={paused} />
            <Switch label={t('lobby.muted')} on={!mediaState.micOn} onChange={(muted) => localMedia.setMicOnInLobby(!muted)} />
          </>
        )}
        {check}
        <div className="lobby-join">
          <JoinErrorText error={error} />
          {/* Above the button, so that the button does not move when this text disappears. */}
          {start !== null && (
            <p className="small quiet lobby-hint" role="status">
              {closed
                ? t(joinOnOpen ? 'lobby.waits' : you.role === 'host' ? 'lobby.hostEarly' : 'lobby.early')
                : early && t('lobby.openNow.text')}
            </p>
          )}
          {closed && !joinAttempt ? (
            <button type="submit" className={joinOnOpen ? 'primary pressed' : 'primary'} aria-pressed={joinOnOpen}>
              {joinOnOpen && <Icon name="check" />}
              {t('lobby.wait')}
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
      </form>
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
