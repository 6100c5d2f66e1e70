import { locale } from '../../messages';

/** A part of one as people write it: "40 %". */
export const formatPercent = (part: number): string => new Intl.NumberFormat(locale(), { style: 'percent' }).format(part);
