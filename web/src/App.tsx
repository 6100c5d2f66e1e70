import { useEffect, type ReactElement } from 'react';
import type { JoinApi } from './api/client';
import type { Lazy } from './lib/lazy';
import { useLazy } from './lib/useLazy';
import { useStore } from './lib/useStore';
import type { Studio } from './media/studio';
import { spoken, t } from './messages';
import type { RoomModule } from './room';
import { guestLink, type Preset, type Route } from './route';
import { CheckButton } from './screens/CheckButton';
import type { LaterScreens } from './screens/later';
import { Lobby } from './screens/Lobby';
import { Opening } from './screens/Opening';
import type { SeatKeeper } from './seat/keeper';
import type { Acts } from './visit/acts';
import type { Runner } from './visit/runner';
import { startOf } from './visit/schedule';
import type { Visit } from './visit/state';
import { titleOf } from './visit/title';

export interface AppProps {
  route: Route;
  preset: Preset;
  api: JoinApi;
  runner: Runner;
  keeper: SeatKeeper;
  /** What may be asked of the server inside comes with the room. */
  actsIn: (room: RoomModule) => Acts;
  studio: Studio;
  room: Lazy<RoomModule>;
  later: Lazy<LaterScreens>;
}

export function App({ route, preset, api, runner, keeper, actsIn, studio, room, later }: AppProps): ReactElement | null {
  const { visit, inside, asking } = useStore(runner.store);
  // Another language: every word is said anew.
  useStore(spoken);
  const title = titleOf(visit);
  useEffect(() => {
    document.title = title ?? t('product');
  }, [title]);
  usePrefetch(visit.at === 'lobby' || visit.at === 'room', room, later);
  const { part: screens, failed } = useLazy(later, beyondFirst(visit));

  if (beyondFirst(visit) && !screens) return <Opening away={failed} busy={false} onAgain={later.prefetch} />;
  switch (visit.at) {
    case 'opening':
      return <Opening away={visit.attempt > 0} busy={asking} onAgain={runner.hurry} />;
    case 'wrongLink':
      return screens && <screens.WrongLink preview={visit.preview} onGuest={() => runner.dispatch({ type: 'asGuest' })} />;
    case 'twice':
      return (
        screens && (
          <screens.Twice
            twice={visit}
            onHere={() => {
              const { microphone, camera } = visit.preview.you.may_send;
              studio.permit({ mic: microphone, camera });
              void studio.prepare();
              runner.dispatch({ type: 'joinHere' });
            }}
            onStay={() => runner.dispatch({ type: 'stayThere' })}
            onOther={
              route.link === null
                ? () => {
                    keeper.beSomebodyElse();
                    location.reload();
                  }
                : null
            }
          />
        )
      );
    case 'lobby':
      return (
        <Lobby
          // Somebody who turns from host to guest on the way is asked for a name anew.
          key={`${visit.preview.you.role} ${visit.preview.you.link ?? ''}`}
          lobby={visit}
          presetName={preset.name}
          studio={studio}
          clock={runner.clock}
          check={<CheckButton api={api} studio={studio} room={room} />}
          Schedule={screens?.Schedule}
          onJoin={(name) => runner.dispatch({ type: 'join', name })}
          onWait={(name) => runner.dispatch({ type: 'wait', name })}
          onGiveUp={() => runner.dispatch({ type: 'giveUp' })}
        />
      );
    case 'room':
      return inside ? (
        <inside.module.RoomScreen
          room={inside.session.room}
          inbox={inside.session.inbox}
          reactions={inside.session.reactions}
          seat={visit.seat}
          link={visit.link}
          word={visit.word}
          clock={runner.clock}
          acts={actsIn(inside.module)}
          studio={studio}
          invitation={guestLink(location.origin, route.roomId)}
          onHeard={() => runner.dispatch({ type: 'heard' })}
          onLeave={() => runner.dispatch({ type: 'leave' })}
        />
      ) : null;
    case 'away':
      return (
        screens && (
          <screens.Away
            away={visit}
            onBack={() => {
              void studio.prepare();
              runner.dispatch({ type: 'comeBack' });
            }}
          />
        )
      );
    case 'removed':
      return screens && <screens.Removed removed={visit} busy={asking} onAgain={runner.hurry} />;
    case 'refused':
      return screens && <screens.Refused refused={visit} busy={asking} onAgain={runner.hurry} />;
  }
}

/** An address that is no room's. */
export function NoRoom({ later }: Pick<AppProps, 'later'>): ReactElement {
  const { part: screens, failed } = useLazy(later, true);
  return screens ? <screens.NotALink /> : <Opening away={failed} busy={false} onAgain={later.prefetch} />;
}

/** Whether this is told by a screen that does not come with the first view. */
function beyondFirst(visit: Visit): boolean {
  return visit.at === 'lobby' ? startOf(visit.preview) !== null : visit.at !== 'opening' && visit.at !== 'room';
}

/**
 * Fetches the room while the visitor looks at the first view, after that view
 * has been painted, and then the screens that tell why somebody is not in it:
 * when they are needed, the server may be away.
 */
function usePrefetch(when: boolean, room: Lazy<RoomModule>, later: Lazy<LaterScreens>): void {
  useEffect(() => {
    if (!when) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => void room.prefetch().then(later.prefetch));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [when, room, later]);
}
