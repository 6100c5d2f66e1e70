import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import type { Studio } from '../../media/studio';
import { t } from '../../messages';
import '../../styles/sheets.css';
import { Sheet } from '../../ui/Sheet';
import { ConnectionPart } from './ConnectionPart';
import { DevicesPart } from './DevicesPart';
import type { Way } from './way';

interface Props {
  studio: Studio;
  findWay: () => Promise<Way>;
  connected: boolean;
  onClose: () => void;
}

/** What was found of the network and the devices, and what to do about it. */
export function CheckSheet({ studio, findWay, connected, onClose }: Props): ReactElement {
  const desk = useStore(studio.desk);
  return (
    <Sheet title={t('check.open')} onClose={onClose}>
      <ConnectionPart findWay={findWay} connected={connected} />
      <DevicesPart desk={desk} studio={studio} />
    </Sheet>
  );
}
