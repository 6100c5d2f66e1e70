import { useConnectionQualityIndicator } from '@livekit/components-react';
import { ConnectionQuality } from 'livekit-client';
import type { ReactElement } from 'react';
import { useLasting } from '../../lib/useLasting';
import { t } from '../../messages';
import { Shape } from '../../ui/Icon';
import type { Person } from '../person';

/** One bar of three stands, or none and a cross. */
const weak = 'M4.5 15.5v4M12 19.5h.01M19.5 19.5h.01';
const lost = 'M4.5 19.5h.01M12 19.5h.01M19.5 19.5h.01M8 6l8 8M16 6l-8 8';

/** Short dips are everywhere and nobody hears them. */
const lasting = 3_000;

/** That somebody is hard to hear for their connection, and it is not their fault. */
export function ConnectionMark({ person }: { person: Person }): ReactElement | null {
  const { quality } = useConnectionQualityIndicator({ participant: person.participant });
  const isLost = quality === ConnectionQuality.Lost;
  const bad = useLasting(isLost || quality === ConnectionQuality.Poor, lasting);
  if (!bad) return null;
  return (
    <span className="badge-icon connection">
      <Shape lines={isLost ? lost : weak} manner="icon bold" />
      <span className="connection-words">{t(isLost ? 'connection.lost' : 'connection.weak')}</span>
    </span>
  );
}
