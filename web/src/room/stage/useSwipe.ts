import { type RefObject, useEffect } from 'react';
import { isSwipe, type Point } from './swipe';
import { speakerView } from './viewPreferences';

/** Selects the elements that use a moving finger themselves. */
const ownGesture = 'input, textarea, .toast, [data-zoomed], [data-floating]';

/** A pin and a shared screen stay large in both views, so that a change of the view would not be seen. */
const sameInBothViews = '.share[data-large], [data-large] > .pin[aria-pressed=true]';

/** On touch screens, a swipe over the stage switches between the speaker view and the grid. */
export function useSwipe(stage: RefObject<HTMLElement | null>, enabled: boolean): void {
  useEffect(() => {
    const element = stage.current;
    if (!element || !enabled) return;
    let start: Point | null = null;
    const pointOf = ({ clientX, clientY }: Touch, { timeStamp }: TouchEvent): Point => ({ x: clientX, y: clientY, at: timeStamp });
    const onStart = (event: TouchEvent): void => {
      const [touch] = event.touches;
      // Two fingers zoom.
      const alone = event.touches.length === 1 && !(event.target as Element).closest(ownGesture);
      start = touch && alone ? pointOf(touch, event) : null;
    };
    const onEnd = (event: TouchEvent): void => {
      const [touch] = event.changedTouches;
      const swiped = start && touch && isSwipe(start, pointOf(touch, event));
      if (swiped && !element.querySelector(sameInBothViews)) speakerView.save(!speakerView.get());
      start = null;
    };
    element.addEventListener('touchstart', onStart, { passive: true });
    element.addEventListener('touchend', onEnd, { passive: true });
    return () => {
      element.removeEventListener('touchstart', onStart);
      element.removeEventListener('touchend', onEnd);
    };
  }, [stage, enabled]);
}
