import { useEffect, useId, useRef, useState, useSyncExternalStore, type FormEvent, type ReactElement, type ReactNode } from 'react';
import type { ServerClock } from '../lib/clock';
import { momentNear } from '../lib/moment';
import { useTime } from '../lib/useTime';
import { choices } from '../media/choices';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import type { Preview, Role } from '../api/client';
import { count, t, type PlainKey } from '../messages';
import { Icon } from '../ui/Icon';
import { LanguageSelect } from '../ui/LanguageSelect';
import { Switch } from '../ui/Switch';
import { entryOf, startOf } from '../visit/schedule';
import type { LobbyNotice, Visit } from '../visit/state';
import { CameraField } from './CameraField';
import { MicField } from './MicField';
import type { Schedule } from './Schedule';
import { TroubleText } from './TroubleText';
import { Waiting } from './Waiting';

interface Props {
  lobby: Extract<Visit, { at: 'lobby' }>;
  /** The name that the address brings along. */
  presetName: string | null;
  studio: Studio;
  clock: ServerClock;
  /** The way to the check of network and devices. */
  check: ReactNode;
  /** Not there where nothing is scheduled. */
  Schedule: typeof Schedule | undefined;
  onJoin: (name: string) => void;
  /** To come in by itself when the room opens, under that name; null: not. */
  onWait: (name: string | null) => void;
  /** Not to wait any longer until a host lets the visitor in. */
  onGiveUp: () => void;
}

const roles = {
  host: 'lobby.host',
  cohost: 'lobby.cohost',
  guest: 'lobby.guest',
} as const satisfies Record<Role, PlainKey>;

const notices = {
  linkTaken: 'lobby.linkTaken',
  free: 'lobby.free',
  open: 'lobby.open',
} as const satisfies Record<LobbyNotice, PlainKey>;

/** What this visitor has to know of the devices that stay off here. */
function unusable({ room_type, features, you: { may_send } }: Preview): string | null {
  const unseen = room_type === 'video' && !may_send.camera;
  if (!may_send.microphone) return t(unseen && features.camera ? 'lobby.neither' : 'lobby.noMic');
  if (!unseen) return null;
  return t(features.camera ? 'lobby.noCamera' : 'lobby.noCameras');
}

/** Since when an open room has been, if that was planned, and how many are in it. */
function underWay({ participants, start_time, server_time }: Preview): string {
  const people = participants === 0 ? t('lobby.nobody') : count('lobby.people', participants);
  if (!start_time) return people;
  const [start, now] = [Date.parse(start_time), Date.parse(server_time)];
  return `${t(start > now ? 'schedule.starts' : 'schedule.started', { when: momentNear(start, now) })} · ${people}`;
}

/** This is you, this is the room, join. */
export function Lobby({ lobby, presetName, studio, clock, check, Schedule, onJoin, onWait, onGiveUp }: Props): ReactElement {
  const { preview, arrival, trouble, notice, eager } = lobby;
  const { you } = preview;
  const waiting = arrival !== null && arrival.knocks > 0;
  // Drawing camera and level takes time from coming in, on a weak device most of
  // all, and so does telling what comes of devices: the room tells that.
  const still = arrival !== null && !waiting;
  const video = preview.room_type === 'video';
  const { microphone: mayMic, camera: mayCamera } = you.may_send;
  const withCamera = video && mayCamera;
  const without = unusable(preview);
  const desk = useDesk(studio, still);
  const [name, setName] = useState(() => lobby.typed ?? (you.name || (you.link === 'taken' ? '' : (presetName ?? choices.name()))));
  const [nameless, setNameless] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  const start = startOf(preview);
  const entry = entryOf(preview);
  const now = useTime(clock, start !== null);
  const early = start !== null && now < start;
  const closed = entry !== null && now < entry;

  useEffect(() => {
    // Not where that would push up a keyboard.
    if (!field.current?.value && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  function join(event: FormEvent): void {
    event.preventDefault();
    const spoken = name.trim();
    setNameless(spoken === '');
    if (spoken === '') return field.current?.focus();
    if (arrival) return;
    if (closed && eager) return onWait(null);
    if (you.role === 'guest') choices.setName(spoken);
    // Asking for devices takes as long as the visitor takes: joining does not wait for it.
    void studio.prepare();
    if (closed) onWait(spoken);
    else onJoin(spoken);
  }

  function write(text: string): void {
    setName(text);
    setNameless(false);
    if (eager) onWait(text.trim() || null);
  }

  const wrong = nameless ? t('lobby.name.missing') : null;
  return (
    <main className={withCamera ? 'lobby with-camera' : 'lobby'}>
      <LanguageSelect className="lobby-language" />
      <header className="lobby-room">
        <h1>
          <bdi>{preview.title}</bdi>
        </h1>
        {start === null ? (
          <p className="quiet">{underWay(preview)}</p>
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
      {withCamera && <CameraField desk={desk} studio={studio} name={name} still={still} />}
      <form className="lobby-you" onSubmit={join} noValidate>
        <div role="status" className="lobby-notice">
          {waiting ? <Waiting /> : notice && <p>{t(notices[notice])}</p>}
        </div>
        <div className="field">
          <label htmlFor={id}>{t('lobby.name')}</label>
          <input
            ref={field}
            id={id}
            value={name}
            dir={name ? 'auto' : undefined}
            onChange={(event) => write(event.target.value)}
            readOnly={waiting}
            maxLength={255}
            autoComplete="name"
            autoCapitalize="words"
            enterKeyHint="go"
            required
            aria-invalid={wrong !== null}
            aria-describedby={`${id}-hint`}
          />
          <p id={`${id}-hint`} className={wrong ? 'small wrong' : 'small quiet'}>
            {wrong ?? t(roles[you.role])}
          </p>
        </div>
        {without && <p className="quiet">{without}</p>}
        {mayMic && (
          <>
            <MicField desk={desk} studio={studio} still={still} />
            <Switch label={t('lobby.muted')} on={!desk.micOn} onChange={(muted) => studio.wishMicOn(!muted)} />
          </>
        )}
        {check}
        <div className="lobby-join">
          <TroubleText trouble={trouble} />
          {/* Above the button, which stays where it is when this goes: somebody may be about to press it. */}
          {start !== null && (
            <p className="small quiet lobby-hint" role="status">
              {closed ? t(eager ? 'lobby.waits' : you.role === 'host' ? 'lobby.hostEarly' : 'lobby.early') : early && t('lobby.openNow.text')}
            </p>
          )}
          {closed && !arrival ? (
            <button type="submit" className={eager ? 'primary pressed' : 'primary'} aria-pressed={eager}>
              {eager && <Icon name="check" />}
              {t('lobby.wait')}
            </button>
          ) : (
            <button type="submit" className="primary" aria-disabled={arrival !== null}>
              {t(waiting ? 'waiting.button' : arrival ? 'lobby.joining' : early ? 'lobby.openNow' : you.waits ? 'waiting.ask' : 'lobby.join')}
            </button>
          )}
          {waiting && (
            <button type="button" className="secondary" onClick={onGiveUp}>
              {t('waiting.stop')}
            </button>
          )}
        </div>
      </form>
    </main>
  );
}

/** The devices; while `still`, no more of them than the visitor has changed. */
function useDesk({ desk }: Studio, still: boolean): Desk {
  const shown = useRef(desk.get());
  return useSyncExternalStore(desk.watch, () => {
    const { micOn, cameraOn, chosen } = shown.current;
    const now = desk.get();
    if (!still || now.micOn !== micOn || now.cameraOn !== cameraOn || now.chosen !== chosen) shown.current = now;
    return shown.current;
  });
}
