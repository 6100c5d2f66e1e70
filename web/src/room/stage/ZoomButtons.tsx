import type { KeyboardEvent, ReactElement } from 'react';
import { t } from '../../messages';
import { IconShape } from '../../ui/Icon';
import { formatPercent } from '../people/percent';
import type { ZoomControls } from './useZoom';

const zoomInIcon = 'M12 5v14M5 12h14';
const zoomOutIcon = 'M5 12h14';
const step = 1.5;

/** How an arrow key moves the screen, by parts of the tile. */
const moves: Record<string, [number, number]> = {
  ArrowLeft: [0.2, 0],
  ArrowRight: [-0.2, 0],
  ArrowUp: [0, 0.2],
  ArrowDown: [0, -0.2],
};

/** The buttons that enlarge a shared screen. The arrow keys move it while one of them has the focus. */
export function ZoomButtons({ zoom, zoomBy, pan, reset }: ZoomControls): ReactElement {
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moves[event.key];
    if (!move || zoom.factor === 1) return;
    event.preventDefault();
    pan(...move);
  };
  return (
    <fieldset className="zoom" aria-label={t('zoom.title')} onKeyDown={onKeyDown}>
      <button type="button" className="round" aria-label={t('zoom.out')} aria-disabled={zoom.factor === 1} onClick={() => zoomBy(1 / step)}>
        <IconShape path={zoomOutIcon} />
      </button>
      <button type="button" className="zoom-reset" onClick={reset}>
        <span className="sr-only">{t('zoom.reset')} </span>
        {formatPercent(Math.round(zoom.factor * 20) / 20)}
      </button>
      <button type="button" className="round" aria-label={t('zoom.in')} onClick={() => zoomBy(step)}>
        <IconShape path={zoomInIcon} />
      </button>
    </fieldset>
  );
}
