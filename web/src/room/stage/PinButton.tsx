import type { ReactElement } from 'react';
import { useStore } from '../../state/useStore';
import { IconShape } from '../../ui/Icon';
import { pins, togglePin } from './pins';

const pinIcon = 'M9 3.5h6M10 3.5v6l-3.5 4v2h11v-2l-3.5-4v-6M12 15.5v5.5';

/** The pin button on a tile. Two clicks or taps on the tile do the same, and the list of people has it, too. */
export function PinButton({ id, label }: { id: string; label: string }): ReactElement {
  const pinned = useStore(pins).includes(id);
  return (
    <button type="button" className="round pin" aria-pressed={pinned} aria-label={label} onClick={() => togglePin(id)}>
      <IconShape path={pinIcon} />
    </button>
  );
}
