import type { ReactElement } from 'react';
import type { LocalMedia } from '../../media/localMedia';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import '../../styles/sheets.css';
import { Sheet } from '../../ui/Sheet';
import { ConnectionPart } from './ConnectionPart';
import { DevicesPart } from './DevicesPart';
import type { MediaRoute } from './mediaRoute';

interface Props {
  localMedia: LocalMedia;
  findRoute: () => Promise<MediaRoute>;
  connected: boolean;
  onClose: () => void;
}

/** The results of the connection and device check. */
export function CheckSheet({ localMedia, findRoute, connected, onClose }: Props): ReactElement {
  const mediaState = useStore(localMedia.state);
  return (
    <Sheet title={t('check.open')} onClose={onClose}>
      <ConnectionPart findRoute={findRoute} connected={connected} />
      <DevicesPart mediaState={mediaState} localMedia={localMedia} />
    </Sheet>
  );
}
