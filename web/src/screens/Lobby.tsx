import { useEffect, useId, useRef, useState, type FormEvent, type ReactElement } from 'react';
import { useStore } from '../lib/useStore';
import { choices } from '../media/choices';
import type { Studio } from '../media/studio';
import { count, t } from '../messages';
import { Switch } from '../ui/Switch';
import type { LobbyNotice, Visit } from '../visit/state';
import { CameraField } from './CameraField';
import { MicField } from './MicField';
import { TroubleText } from './TroubleText';

interface Props {
  lobby: Extract<Visit, { at: 'lobby' }>;
  studio: Studio;
  onJoin: (name: string) => void;
}

const notices: Record<LobbyNotice, string> = {
  linkTaken: t('lobby.linkTaken'),
  free: t('lobby.free'),
  open: t('lobby.open'),
};

/** This is you, this is the room, join. */
export function Lobby({ lobby, studio, onJoin }: Props): ReactElement {
  const { preview, arrival, trouble, notice } = lobby;
  const { you } = preview;
  const video = preview.room_type === 'video';
  const desk = useStore(studio.desk);
  const [name, setName] = useState(() => lobby.typed ?? (you.name || (you.link === 'taken' ? '' : choices.name())));
  const [nameless, setNameless] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  useEffect(() => {
    void studio.warmUp(video);
  }, [studio, video]);

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
    if (you.role === 'guest') choices.setName(spoken);
    // Asking for devices takes as long as the visitor takes: joining does not wait for it.
    void studio.prepare();
    onJoin(spoken);
  }

  const wrong = nameless ? t('lobby.name.missing') : null;
  return (
    <main className={video ? 'lobby with-camera' : 'lobby'}>
      <header className="lobby-room">
        <h1>{preview.title}</h1>
        <p className="quiet">
          {preview.participants === 0 ? t('lobby.nobody') : count('lobby.people', preview.participants)}
        </p>
        {preview.welcome_message && (
          // Long ones scroll, so it can be reached with the keyboard.
          <section className="welcome" aria-label={t('lobby.welcome')} tabIndex={0}>
            {preview.welcome_message}
          </section>
        )}
      </header>
      {video && <CameraField desk={desk} studio={studio} name={name} />}
      <form className="lobby-you" onSubmit={join} noValidate>
        <div role="status" className="lobby-notice">
          {notice && <p>{notices[notice]}</p>}
        </div>
        <div className="field">
          <label htmlFor={id}>{t('lobby.name')}</label>
          <input
            ref={field}
            id={id}
            value={name}
            onChange={(event) => {
              setName(event.target.value);
              setNameless(false);
            }}
            maxLength={255}
            autoComplete="name"
            autoCapitalize="words"
            enterKeyHint="go"
            required
            aria-invalid={wrong !== null}
            aria-describedby={`${id}-hint`}
          />
          <p id={`${id}-hint`} className={wrong ? 'small wrong' : 'small quiet'}>
            {wrong ?? t(you.role === 'host' ? 'lobby.host' : 'lobby.guest')}
          </p>
        </div>
        <MicField desk={desk} studio={studio} />
        <Switch label={t('lobby.muted')} on={!desk.micOn} onChange={(muted) => studio.wishMicOn(!muted)} />
        <div className="lobby-join">
          <TroubleText trouble={trouble} />
          <button type="submit" className="primary" aria-disabled={arrival !== null}>
            {t(arrival ? 'lobby.joining' : 'lobby.join')}
          </button>
        </div>
      </form>
    </main>
  );
}
