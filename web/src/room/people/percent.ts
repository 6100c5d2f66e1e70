import { locale } from '../../messages';

/** Formats a fraction of 1 in percent. */
export const formatPercent = (part: number): string => new Intl.NumberFormat(locale(), { style: 'percent' }).format(part);
