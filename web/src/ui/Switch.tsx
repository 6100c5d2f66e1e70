import type { ReactElement } from 'react';

interface Props {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
}

export function Switch({ label, on, onChange }: Props): ReactElement {
  return (
    <label className="switch">
      {/* biome-ignore lint/a11y/useAriaPropsForRole: the browser derives aria-checked from the checkbox */}
      <input type="checkbox" role="switch" checked={on} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}
