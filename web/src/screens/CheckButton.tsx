import { useState, type ReactElement } from 'react';
import type { JoinApi } from '../api/client';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import type { RoomModule } from '../room';

interface Props {
  api: JoinApi;
  studio: Studio;
  loadRoom: () => Promise<RoomModule>;
}

/** Opens the check, which comes with the room. */
export function CheckButton({ api, studio, loadRoom }: Props): ReactElement {
  const [room, setRoom] = useState<RoomModule | null>(null);
  return (
    <>
      {/* Where it cannot be loaded, joining says so. */}
      <button type="button" className="lobby-check" onClick={() => void loadRoom().then(setRoom, () => undefined)}>
        {t('check.open')}
      </button>
      {room && (
        <room.CheckSheet
          studio={studio}
          findWay={async () => {
            const answer = await api.check();
            return answer.is === 'ok' ? room.tryWay(answer.value.media_token) : 'unknown';
          }}
          connected={false}
          onClose={() => setRoom(null)}
        />
      )}
    </>
  );
}
