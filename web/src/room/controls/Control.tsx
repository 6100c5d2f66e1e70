import type { ReactElement, Ref } from 'react';
import { count as counting, formatNumber } from '../../messages';
import { useStore } from '../../state/useStore';
import { Icon, type IconName } from '../../ui/Icon';
import { shortcutsEnabled } from '../shortcuts/shortcutsEnabled';

interface Props {
  icon: IconName;
  label: string;
  /** Shows the label in the button instead of above it. */
  named?: boolean;
  /** A number next to the icon. */
  count?: number;
  /** A number in the corner of the button, and its text for screen readers. */
  badge?: { count: number; label: string } | undefined;
  /** How many people wait to be admitted. */
  waiting?: number;
  variant?: 'plain' | 'off' | 'on' | 'danger' | 'chevron';
  /** The key that does the same. */
  shortcutKey?: string;
  /** Marks the control of a tab or of the menu, so that the focus finds it. */
  opens?: string;
  /** Whether the tab or the dialog of the control is open. */
  expanded?: boolean | undefined;
  /** The id of the panel that it opens. */
  controls?: string | undefined;
  /** Whether the control opens a dialog. */
  dialog?: boolean;
  innerRef?: Ref<HTMLButtonElement>;
  onPress: () => void;
}

/** A round button whose label appears above it. Shape and text carry the meaning, never color alone. */
export function Control({
  icon,
  label,
  named = false,
  count,
  badge,
  waiting = 0,
  variant = 'plain',
  shortcutKey,
  opens,
  expanded,
  controls,
  dialog = false,
  innerRef,
  onPress,
}: Props): ReactElement {
  const shortcutsOn = useStore(shortcutsEnabled);
  return (
    <button
      ref={innerRef}
      type="button"
      className={named ? `control named ${variant}` : `control ${variant}`}
      data-opens={opens}
      aria-keyshortcuts={shortcutsOn ? shortcutKey : undefined}
      aria-expanded={expanded}
      aria-controls={expanded ? controls : undefined}
      aria-haspopup={dialog ? 'dialog' : undefined}
      onClick={onPress}
    >
      <Icon name={icon} />
      <span className="control-label">
        {label}
        {count !== undefined && <span className="sr-only"> ({formatNumber(count)})</span>}
        {badge && <span className="sr-only"> ({badge.label})</span>}
        {waiting > 0 && <span className="sr-only"> ({counting('waitingRoom.people', waiting)})</span>}
        {shortcutKey && shortcutsOn && (
          <span className="control-key" aria-hidden="true">
            {shortcutKey}
          </span>
        )}
      </span>
      {count !== undefined && (
        <span className="control-number" aria-hidden="true">
          {formatNumber(count)}
        </span>
      )}
      {badge && (
        <span className="control-badge" aria-hidden="true">
          {formatNumber(badge.count)}
        </span>
      )}
      {waiting > 0 && (
        <span className="control-badge knocks" aria-hidden="true">
          <Icon name="knock" />
          {formatNumber(waiting)}
        </span>
      )}
    </button>
  );
}
