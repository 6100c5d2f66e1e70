import { useEffect, useRef, useState, type ReactElement } from 'react';
import { watchLevel } from '../media/level';
import { t } from '../messages';

const audible = 0.35;

interface Props {
  track: MediaStreamTrack;
  /** Listens no more for now. */
  still?: boolean;
}

/** How loud the microphone is now, as a bar for the eye and a sentence for everybody. */
export function Meter({ track, still = false }: Props): ReactElement {
  const bar = useRef<HTMLDivElement>(null);
  const [heard, setHeard] = useState(false);
  useEffect(() => {
    if (still) return;
    setHeard(false);
    let shown = 0;
    return watchLevel(track, (level) => {
      // Up at once, down slowly: that is how the eye wants it.
      shown = Math.max(level, shown * 0.9);
      bar.current?.style.setProperty('--level', shown.toFixed(3));
      if (level > audible) setHeard(true);
    });
  }, [track, still]);
  return (
    <div className="meter">
      <div ref={bar} className="meter-bar" aria-hidden="true" />
      <p className="small quiet" role="status">
        {t(heard ? 'mic.heard' : 'mic.say')}
      </p>
    </div>
  );
}
