import { type ReactElement, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatNumber } from '../format';

export interface Series {
  label: string;
  values: number[];
  /** Drawn as bars instead of a line. */
  bars?: boolean;
  color: '--accent' | '--speaking' | '--quiet';
}

interface Props {
  /** Describes the chart for people who do not see it. The numbers are in a table beside it. */
  label: string;
  /** The times in seconds. */
  times: number[];
  series: Series[];
  height?: number;
  /** Names the time of a value. */
  nameTime: (ms: number) => string;
  /** Names a mark of the axis of times. */
  nameTick: (ms: number) => string;
  /** The times are days in UTC. */
  utc?: boolean;
}

/** A chart of numbers over time, in the colors of the theme. */
export function Chart({ label, times, series, height = 220, nameTime, nameTick, utc = false }: Props): ReactElement {
  const container = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    let plot: uPlot | null = null;
    const draw = (): void => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element), [times, ...series.map(({ values }) => values)], element);
    };
    const optionsOf = ({ clientWidth }: HTMLElement): uPlot.Options => {
      const style = getComputedStyle(element);
      const color = (name: string): string => style.getPropertyValue(name).trim();
      const axis: uPlot.Axis = {
        stroke: color('--quiet'),
        grid: { stroke: color('--line'), width: 1 },
        ticks: { stroke: color('--line'), width: 1 },
        font: `12px ${style.fontFamily}`,
      };
      return {
        width: clientWidth,
        height,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        ...(utc && { tzDate: (ts: number) => uPlot.tzDate(new Date(ts * 1000), 'Etc/UTC') }),
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 70, values: (_plot, splits) => splits.map((at) => nameTick(at * 1000)) },
          { ...axis, size: 56, values: (_plot, splits) => splits.map((n) => (n === Math.round(n) ? formatNumber(n) : '')) },
        ],
        series: [
          {},
          ...series.map(({ label, bars, color: name }) => ({
            label,
            stroke: color(name),
            width: bars ? 0 : 2,
            ...(bars
              ? { fill: color(name), paths: uPlot.paths.bars?.({ size: [0.7, 60] }), points: { show: false } }
              : { points: { show: times.length < 40 } }),
          })),
        ],
        hooks: {
          setCursor: [
            ({ cursor: { idx } }) => {
              const at = idx === null || idx === undefined ? undefined : times[idx];
              if (!legend.current) return;
              legend.current.textContent =
                at === undefined || idx === null || idx === undefined
                  ? ''
                  : [nameTime(at * 1000), ...series.map(({ label, values }) => `${label}: ${formatNumber(values[idx] ?? 0)}`)].join(' · ');
            },
          ],
        },
      };
    };
    draw();
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', draw);
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      theme.removeEventListener('change', draw);
      observer.disconnect();
      plot?.destroy();
    };
  }, [times, series, height, nameTime, nameTick, utc]);
  return (
    <figure className="chart">
      <figcaption>
        <span className="chart-keys">
          {series.map(({ label: name, color }) => (
            <span className="chart-key" data-color={color} key={name}>
              {name}
            </span>
          ))}
        </span>
        <p className="small quiet chart-legend" ref={legend} aria-hidden="true" />
      </figcaption>
      <div ref={container} role="img" aria-label={label} />
    </figure>
  );
}
