import { type ReactElement, useCallback, useSyncExternalStore } from 'react';
import { t } from '../messages';
import { IconShape } from '../ui/Icon';

const enterIcon = 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5';
const exitIcon = 'M9 4v5H4M20 9h-5V4M15 20v-5h5M4 15h5v5';

const isFullScreen = (): boolean => document.fullscreenElement !== null;

/** Shows the room on the whole screen, with its controls. Phones of Apple cannot do it, and frames need the permission. */
export function FullScreenButton(): ReactElement | null {
  const subscribe = useCallback((onChange: () => void) => {
    document.addEventListener('fullscreenchange', onChange);
    return () => document.removeEventListener('fullscreenchange', onChange);
  }, []);
  const active = useSyncExternalStore(subscribe, isFullScreen);
  // The type says that it always exists.
  if ((document as Partial<Document>).fullscreenEnabled !== true) return null;
  // A browser that refuses changes nothing.
  const toggle = (): void =>
    void (active ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => undefined);
  return (
    <div className="room-tools">
      <button type="button" className="round" aria-label={t(active ? 'fullScreen.exit' : 'fullScreen.enter')} onClick={toggle}>
        <IconShape path={active ? exitIcon : enterIcon} />
      </button>
    </div>
  );
}
