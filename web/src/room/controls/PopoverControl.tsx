import { type ReactElement, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { isComposing } from '../../ui/composition';
import type { IconName } from '../../ui/Icon';
import { closeOnBack } from '../leaveGuard';
import { Control } from './Control';

interface Props {
  icon: IconName;
  label: string;
  chevron?: boolean;
  /** The other half of a control in two parts. */
  before?: ReactNode;
  children: ReactNode;
}

/**
 * A control with a popover above it. The popover stays open until the visitor presses the
 * control or Escape, or turns to something else.
 */
export function PopoverControl({ icon, label, chevron = false, before, children }: Props): ReactElement {
  const [open, setOpen] = useState(false);
  const id = useId();
  const group = useRef<HTMLDivElement>(null);
  const control = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPress = ({ target }: Event): void => {
      if (target instanceof Node && !group.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPress);
    const stay = closeOnBack(() => {
      setOpen(false);
      control.current?.focus();
    });
    return () => {
      document.removeEventListener('pointerdown', onPress);
      stay();
    };
  }, [open]);
  useLayoutEffect(() => {
    if (open) popover.current?.querySelector<HTMLElement>('button, input:checked, input')?.focus();
  }, [open]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape and Tab are pressed on the controls inside
    <div
      ref={group}
      className={before ? 'control-group split' : 'control-group'}
      onKeyDown={(event) => {
        if (!open || event.key !== 'Escape' || isComposing(event.nativeEvent)) return;
        setOpen(false);
        control.current?.focus();
      }}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !group.current?.contains(relatedTarget)) setOpen(false);
      }}
    >
      {before}
      <Control
        innerRef={control}
        icon={icon}
        label={label}
        variant={chevron ? 'chevron' : 'plain'}
        expanded={open}
        controls={id}
        dialog
        onPress={() => setOpen(!open)}
      />
      {open && (
        <div ref={popover} id={id} className="popover" role="dialog" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
