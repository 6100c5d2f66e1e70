import { useEffect, type ReactElement } from 'react';
import type { JoinApi } from './api/client';
import { useStore } from './lib/useStore';
import type { Studio } from './media/studio';
import { spoken, t } from './messages';
import type { RoomModule } from './room';
import { guestLink, type Preset, type Route } from './route';
import { Away } from './screens/Away';
import { CheckButton } from './screens/CheckButton';
import { Lobby } from './screens/Lobby';
import { Opening } from './screens/Opening';
import { Refused } from './screens/Refused';
import { Removed } from './screens/Removed';
import { WithRoom } from './screens/WithRoom';
import { WrongLink } from './screens/WrongLink';
import type { SeatKeeper } from './seat/keeper';
import type { Acts } from './visit/acts';
import type { Runner } from './visit/runner';
import { titleOf } from './visit/title';

interface Props {
  route: Route;
  preset: Preset;
  api: JoinApi;
  runner: Runner;
  keeper: SeatKeeper;
  acts: Acts;
  studio: Studio;
  loadRoom: () => Promise<RoomModule>;
}

export function App({ route, preset, api, runner, keeper, acts, studio, loadRoom }: Props): ReactElement | null {
  const { visit, inside, asking } = useStore(runner.store);
  // Another language: every word is said anew.
  useStore(spoken);
  const title = titleOf(visit);
  useEffect(() => {
    document.title = title ?? t('product');
  }, [title]);
  usePrefetch(visit.at === 'lobby', loadRoom);

  switch (visit.at) {
    case 'opening':
      return <Opening away={visit.attempt > 0} busy={asking} onAgain={runner.hurry} />;
    case 'wrongLink':
      return <WrongLink preview={visit.preview} onGuest={() => runner.dispatch({ type: 'asGuest' })} />;
    case 'twice':
      return (
        <WithRoom loadRoom={loadRoom}>
          {({ Twice }) => (
            <Twice
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
          )}
        </WithRoom>
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
          check={<CheckButton api={api} studio={studio} loadRoom={loadRoom} />}
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
          acts={acts}
          studio={studio}
          invitation={guestLink(location.origin, route.roomId)}
          onHeard={() => runner.dispatch({ type: 'heard' })}
          onLeave={() => runner.dispatch({ type: 'leave' })}
        />
      ) : null;
    case 'away':
      return (
        <Away
          away={visit}
          onBack={() => {
            void studio.prepare();
            runner.dispatch({ type: 'comeBack' });
          }}
        />
      );
    case 'removed':
      return <Removed removed={visit} busy={asking} onAgain={runner.hurry} />;
    case 'refused':
      return <Refused refused={visit} busy={asking} onAgain={runner.hurry} />;
  }
}

/** Fetches the room while the visitor looks at the first view, after that view has been painted. */
function usePrefetch(when: boolean, loadRoom: () => Promise<RoomModule>): void {
  useEffect(() => {
    if (!when) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      // Not now: joining tries again and says so if it fails.
      timer = setTimeout(() => void loadRoom().catch(() => undefined));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [when, loadRoom]);
}
