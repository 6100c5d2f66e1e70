import { type ReactElement, useId } from 'react';
import { useStore } from '../../state/useStore';
import { formatPercent } from './percent';
import { setVolume, volumes } from './volumes';

/** An iPhone has one volume for everything, so that a page can only turn a sound off. */
const canSetVolume = ((audio: HTMLAudioElement): boolean => {
  audio.volume = 0.5;
  return audio.volume === 0.5;
})(document.createElement('audio'));

/** The volume of one sound, for this visitor only. */
export function VolumeSlider({ of, label }: { of: string; label: string }): ReactElement {
  const id = useId();
  const volume = useStore(volumes).get(of) ?? 1;
  const formatted = formatPercent(volume);
  return (
    <div className="volume">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={100}
        step={canSetVolume ? 5 : 100}
        value={Math.round(volume * 100)}
        aria-valuetext={formatted}
        onChange={({ target }) => setVolume(of, target.valueAsNumber / 100)}
      />
      <output htmlFor={id}>{formatted}</output>
    </div>
  );
}
