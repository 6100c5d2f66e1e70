import { type ReactElement, useEffect, useRef } from 'react';
import type { CheckModule } from './check';
import type { LocalMedia } from './media/localMedia';
import { currentLanguage, t } from './messages';
import type { RoomModule } from './room';
import { guestLink, type Preset, type Route } from './route';
import { CheckButton } from './screens/CheckButton';
import { Lobby } from './screens/Lobby';
import type { LazyScreens } from './screens/lazyScreens';
import { Opening } from './screens/Opening';
import type { SeatKeyStore } from './seat/seatKeyStore';
import type { Lazy } from './state/lazy';
import type { Store } from './state/store';
import { useLazy } from './state/useLazy';
import { useStore } from './state/useStore';
import type { RatingSender } from './visit/ratingSender';
import type { RoomActions } from './visit/roomActions';
import type { Runner } from './visit/runner';
import { startOf } from './visit/schedule';
import type { Visit } from './visit/state';
import { endedWait, titleOf } from './visit/title';

/** Old browsers have no WebRTC, and some settings and extensions turn it off. */
const canCall = typeof RTCPeerConnection === 'function';

export interface AppProps {
  route: Route;
  preset: Preset;
  runner: Runner;
  seatKeyStore: SeatKeyStore;
  /** The class of the actions is part of the room module, which is loaded later. */
  createActions: (room: RoomModule) => RoomActions;
  localMedia: LocalMedia;
  /** How many people the room shows; 0 while it is not shown. */
  peopleCount: Store<number>;
  rating: RatingSender;
  room: Lazy<RoomModule>;
  lazyScreens: Lazy<LazyScreens>;
}

export function App({
  route,
  preset,
  runner,
  seatKeyStore,
  createActions,
  localMedia,
  peopleCount,
  rating,
  room,
  lazyScreens,
}: AppProps): ReactElement | null {
  const { visit, joined, checking } = useStore(runner.store);
  // Renders everything again when the language changes.
  useStore(currentLanguage);
  const ended = endedWait(visit);
  const name = titleOf(visit) ?? t('product');
  const title = ended ? `${t(`lobby.${ended}`)} · ${name}` : name;
  useEffect(() => {
    document.title = title;
  }, [title]);
  // A seat does not have it, and every way into the room begins with a preview.
  const welcomeMessage = useRef('');
  if ('preview' in visit) welcomeMessage.current = visit.preview.welcome_message;
  usePrefetchAfterPaint(visit.at === 'lobby' || visit.at === 'room', room, lazyScreens);
  const { part: screens, failed } = useLazy(lazyScreens, needsLazyScreens(visit));

  if (needsLazyScreens(visit) && !screens) return <Opening unreachable={failed} busy={false} onRetry={lazyScreens.prefetch} />;
  switch (visit.at) {
    case 'opening':
      return <Opening unreachable={visit.attempt > 0} busy={checking} onRetry={runner.runNow} />;
    case 'wrongLink':
      return screens && <screens.WrongLink preview={visit.preview} onGuest={() => runner.dispatch({ type: 'joinAsGuest' })} />;
    case 'alreadyJoined':
      return (
        screens && (
          <screens.AlreadyJoined
            alreadyJoined={visit}
            onJoinHere={() => {
              const { microphone, camera } = visit.preview.you.may_send;
              localMedia.setAllowed({ mic: microphone, camera });
              void localMedia.prepare();
              runner.dispatch({ type: 'joinHere' });
            }}
            onStay={() => runner.dispatch({ type: 'stayThere' })}
            onJoinAsOther={
              route.link === null
                ? () => {
                    seatKeyStore.startNewSeat();
                    location.reload();
                  }
                : null
            }
          />
        )
      );
    case 'lobby':
      if (!canCall) return screens && <screens.Unsupported title={visit.preview.title} />;
      return (
        <Lobby
          // A visitor whose role changes from host to guest has to enter a new name.
          key={`${visit.preview.you.role} ${visit.preview.you.link ?? ''}`}
          lobby={visit}
          presetName={preset.name}
          localMedia={localMedia}
          clock={runner.clock}
          check={<CheckButton preflight={runner.preflight} localMedia={localMedia} room={room} />}
          scheduled={screens ?? undefined}
          onJoin={(name) => runner.dispatch({ type: 'join', name })}
          onJoinOnOpen={(name) => runner.dispatch({ type: 'joinOnOpen', name })}
          onStopWaiting={() => runner.dispatch({ type: 'stopWaiting' })}
        />
      );
    case 'room':
      return joined ? (
        <joined.module.RoomScreen
          room={joined.session.room}
          packets={joined.session.packets}
          inbox={joined.session.inbox}
          serverMessages={joined.session.serverMessages}
          reactions={joined.session.reactions}
          seat={visit.seat}
          connection={visit.connection}
          announcement={visit.announcement}
          clock={runner.clock}
          actions={createActions(joined.module)}
          localMedia={localMedia}
          peopleCount={peopleCount}
          guestAddress={guestLink(location.origin, route.roomId)}
          welcomeMessage={welcomeMessage.current}
          onAnnouncementDismissed={() => runner.dispatch({ type: 'dismissed' })}
          onLeave={() => runner.dispatch({ type: 'leave' })}
        />
      ) : null;
    case 'left':
      return (
        screens && (
          <screens.Left
            left={visit}
            onRate={rating.send}
            onBack={() => {
              void localMedia.prepare();
              runner.dispatch({ type: 'rejoin' });
            }}
          />
        )
      );
    case 'removed':
      return screens && <screens.Removed removed={visit} busy={checking} onRetry={runner.runNow} />;
    case 'refused':
      return screens && <screens.Refused refused={visit} busy={checking} onRate={rating.send} onRetry={runner.runNow} />;
  }
}

/** Shown for an address that does not belong to a room. */
export function NoRoom({ lazyScreens }: Pick<AppProps, 'lazyScreens'>): ReactElement {
  const { part: screens, failed } = useLazy(lazyScreens, true);
  return screens ? <screens.NotALink /> : <Opening unreachable={failed} busy={false} onRetry={lazyScreens.prefetch} />;
}

/** Shown for the link of a connection check. */
export function Check({ code, room, page }: Pick<AppProps, 'room'> & { code: string; page: Lazy<CheckModule> }): ReactElement {
  const { part: media, failed } = useLazy(room, true);
  const { part, failed: pageFailed } = useLazy(page, true);
  if (part && media) return <part.ServerCheckPage code={code} room={media} />;
  return <Opening unreachable={failed || pageFailed} busy={false} onRetry={() => void room.prefetch().then(page.prefetch)} />;
}

/** Whether the state is shown by a screen that is not part of the first view. */
function needsLazyScreens(visit: Visit): boolean {
  return visit.at === 'lobby' ? !canCall || startOf(visit.preview) !== null : visit.at !== 'opening' && visit.at !== 'room';
}

/**
 * Prefetches the room after the first view has been painted, and then the other screens,
 * because the server may be unreachable when they are needed.
 */
function usePrefetchAfterPaint(when: boolean, room: Lazy<RoomModule>, lazyScreens: Lazy<LazyScreens>): void {
  useEffect(() => {
    if (!when) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => void room.prefetch().then(lazyScreens.prefetch));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [when, room, lazyScreens]);
}
