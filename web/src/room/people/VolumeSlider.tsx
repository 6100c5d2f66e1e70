import { type ReactElement, useId } from 'react';
import { useStore } from '../../state/useStore';
import { formatPercent } from './percent';
import { setVolume, volumes } from './volumes';

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
        step={5}
        value={Math.round(volume * 100)}
        aria-valuetext={formatted}
        onChange={({ target }) => setVolume(of, target.valueAsNumber / 100)}
      />
      <output htmlFor={id}>{formatted}</output>
    </div>
  );
}
