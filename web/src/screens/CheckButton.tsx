import { type ReactElement, useState } from 'react';
import type { Result, Value } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import { t } from '../messages';
import type { RoomModule } from '../room';
import type { Lazy } from '../state/lazy';

interface Props {
  preflight: () => Promise<Result<Value<'check'>>>;
  localMedia: LocalMedia;
  room: Lazy<RoomModule>;
}

/** Opens the connection and device check, which is part of the room module. */
export function CheckButton({ preflight, localMedia, room }: Props): ReactElement {
  const [roomModule, setRoomModule] = useState<RoomModule | null>(null);
  return (
    <>
      {/* When it cannot be loaded, joining reports that. */}
      <button type="button" className="lobby-check" onClick={() => void room.get().then(setRoomModule, () => undefined)}>
        {t('check.open')}
      </button>
      {roomModule && (
        <roomModule.CheckSheet
          localMedia={localMedia}
          findRoute={async () => {
            const result = await preflight();
            if (result.is === 'refused' && result.error.code === 'check_busy') return 'busy';
            return result.is === 'ok' ? roomModule.testMediaRoute(result.value.media_token) : 'unknown';
          }}
          connected={false}
          onClose={() => setRoomModule(null)}
        />
      )}
    </>
  );
}
