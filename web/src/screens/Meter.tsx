import { type ReactElement, useEffect, useRef, useState } from 'react';
import { watchLevel } from '../media/level';
import { t } from '../messages';

const speechLevel = 0.35;

interface Props {
  track: MediaStreamTrack;
  /** Stops measuring for now. */
  paused?: boolean;
}

/** The level of the microphone as a bar, and a sentence for screen readers. */
export function Meter({ track, paused = false }: Props): ReactElement {
  const bar = useRef<HTMLDivElement>(null);
  const [speechDetected, setSpeechDetected] = useState(false);
  useEffect(() => {
    if (paused) return;
    setSpeechDetected(false);
    let displayedLevel = 0;
    return watchLevel(track, (level) => {
      // Rises at once and falls slowly, which is easier to read.
      displayedLevel = Math.max(level, displayedLevel * 0.9);
      bar.current?.style.setProperty('--level', displayedLevel.toFixed(3));
      if (level > speechLevel) setSpeechDetected(true);
    });
  }, [track, paused]);
  return (
    <div className="meter">
      <div ref={bar} className="meter-bar" aria-hidden="true" />
      <p className="small quiet" role="status">
        {t(speechDetected ? 'mic.heard' : 'mic.test')}
      </p>
    </div>
  );
}
