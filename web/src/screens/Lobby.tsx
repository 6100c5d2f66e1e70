import { useEffect, useId, useRef, useState, useSyncExternalStore, type FormEvent, type ReactElement, type ReactNode } from 'react';
import type { ServerClock } from '../lib/clock';
import { formatTimeOrDate } from '../lib/dateTime';
import { useServerTime } from '../lib/useServerTime';
import { devicePreferences } from '../media/devicePreferences';
import type { MediaState } from '../media/mediaState';
import type { LocalMedia } from '../media/localMedia';
import type { Preview, Role } from '../api/client';
import { count, t, type PlainKey } from '../messages';
import { Icon } from '../ui/Icon';
import { LanguageSelect } from '../ui/LanguageSelect';
import { Switch } from '../ui/Switch';
import { admissionTimeOf, startOf } from '../visit/schedule';
import type { LobbyNotice, Visit } from '../visit/state';
import { CameraField } from './CameraField';
import { MicField } from './MicField';
import type { Schedule } from './Schedule';
import { JoinErrorText } from './JoinErrorText';
import { Waiting } from './Waiting';

interface Props {
  lobby: Extract<Visit, { at: 'lobby' }>;
  /** The name that the address brings along. */
  presetName: string | null;
  localMedia: LocalMedia;
  clock: ServerClock;
  /** The way to the check of network and devices. */
  check: ReactNode;
  /** Not there where nothing is scheduled. */
  Schedule: typeof Schedule | undefined;
  onJoin: (name: string) => void;
  /** To come in by itself when the room opens, under that name; null: not. */
  onJoinOnOpen: (name: string | null) => void;
  /** Not to wait any longer until a host lets the visitor in. */
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

/** What this visitor has to know of the devices that stay off here. */
function missingDevicesText({ room_type, features, you: { may_send } }: Preview): string | null {
  const cameraOff = room_type === 'video' && !may_send.camera;
  if (!may_send.microphone) return t(cameraOff && features.camera ? 'lobby.neither' : 'lobby.noMic');
  if (!cameraOff) return null;
  return t(features.camera ? 'lobby.noCamera' : 'lobby.noCameras');
}

/** Since when an open room has been, if that was planned, and how many are in it. */
function roomStatus({ participants, start_time, server_time }: Preview): string {
  const people = participants === 0 ? t('lobby.nobody') : count('lobby.people', participants);
  if (!start_time) return people;
  const [start, now] = [Date.parse(start_time), Date.parse(server_time)];
  return `${t(start > now ? 'schedule.starts' : 'schedule.started', { when: formatTimeOrDate(start, now) })} · ${people}`;
}

/** This is you, this is the room, join. */
export function Lobby({ lobby, presetName, localMedia, clock, check, Schedule, onJoin, onJoinOnOpen, onStopWaiting }: Props): ReactElement {
  const { preview, joinAttempt, error, notice, joinOnOpen } = lobby;
  const { you } = preview;
  const waiting = joinAttempt !== null && joinAttempt.knocks > 0;
  // Drawing camera and level takes time from coming in, on a weak device most of
  // all, and so does telling what comes of devices: the room tells that.
  const paused = joinAttempt !== null && !waiting;
  const video = preview.room_type === 'video';
  const { microphone: micAllowed, camera: cameraAllowed } = you.may_send;
  const showCamera = video && cameraAllowed;
  const missingDevices = missingDevicesText(preview);
  const mediaState = usePausableMediaState(localMedia, paused);
  const [name, setName] = useState(() => lobby.enteredName ?? (you.name || (you.link === 'taken' ? '' : (presetName ?? devicePreferences.name()))));
  const [nameMissing, setNameless] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  const start = startOf(preview);
  const opensAt = admissionTimeOf(preview);
  const now = useServerTime(clock, start !== null);
  const early = start !== null && now < start;
  const closed = opensAt !== null && now < opensAt;

  useEffect(() => {
    // Not where that would push up a keyboard.
    if (!field.current?.value && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  function join(event: FormEvent): void {
    event.preventDefault();
    const trimmedName = name.trim();
    setNameless(trimmedName === '');
    if (trimmedName === '') return field.current?.focus();
    if (joinAttempt) return;
    if (closed && joinOnOpen) return onJoinOnOpen(null);
    if (you.role === 'guest') devicePreferences.setName(trimmedName);
    // Asking for devices takes as long as the visitor takes: joining does not wait for it.
    void localMedia.prepare();
    if (closed) onJoinOnOpen(trimmedName);
    else onJoin(trimmedName);
  }

  function changeName(text: string): void {
    setName(text);
    setNameless(false);
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
          // Long ones scroll, so it can be reached with the keyboard.
          <section className="welcome" dir="auto" aria-label={t('lobby.welcome')} tabIndex={0}>
            {preview.welcome_message}
          </section>
        )}
      </header>
      {showCamera && <CameraField mediaState={mediaState} localMedia={localMedia} name={name} paused={paused} />}
      <form className="lobby-you" onSubmit={join} noValidate>
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
          {/* Above the button, which stays where it is when this goes: somebody may be about to press it. */}
          {start !== null && (
            <p className="small quiet lobby-hint" role="status">
              {closed ? t(joinOnOpen ? 'lobby.waits' : you.role === 'host' ? 'lobby.hostEarly' : 'lobby.early') : early && t('lobby.openNow.text')}
            </p>
          )}
          {closed && !joinAttempt ? (
            <button type="submit" className={joinOnOpen ? 'primary pressed' : 'primary'} aria-pressed={joinOnOpen}>
              {joinOnOpen && <Icon name="check" />}
              {t('lobby.wait')}
            </button>
          ) : (
            <button type="submit" className="primary" aria-disabled={joinAttempt !== null}>
              {t(waiting ? 'waiting.button' : joinAttempt ? 'lobby.joining' : early ? 'lobby.openNow' : you.waits ? 'waiting.ask' : 'lobby.join')}
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

/** The devices; while `still`, no more of them than the visitor has changed. */
function usePausableMediaState({ state }: LocalMedia, paused: boolean): MediaState {
  const frozen = useRef(state.get());
  return useSyncExternalStore(state.subscribe, () => {
    const { micOn, cameraOn, selectedDevices } = frozen.current;
    const now = state.get();
    if (!paused || now.micOn !== micOn || now.cameraOn !== cameraOn || now.selectedDevices !== selectedDevices) frozen.current = now;
    return frozen.current;
  });
}
