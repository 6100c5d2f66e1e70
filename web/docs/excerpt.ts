/** A part of a text, which is marked if it is a word that was searched for. */
export interface Part {
  text: string;
  marked: boolean;
}

/** The length of an excerpt, in characters. */
const maxLength = 140;
/** How much of it is before the first found word. */
const before = 40;

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns the parts of a text with the words of the index that matched marked. */
export function markTerms(text: string, terms: string[]): Part[] {
  if (terms.length === 0) return [{ text, marked: false }];
  const longestFirst = [...terms].sort((a, b) => b.length - a.length);
  // The odd parts are what the pattern captures.
  const parts = text.split(new RegExp(`(${longestFirst.map(escapePattern).join('|')})`, 'gi'));
  return parts.map((part, i) => ({ text: part, marked: i % 2 === 1 })).filter((part) => part.text !== '');
}

/** Returns the part of a text around the first found word, cut between words. */
export function excerpt(text: string, terms: string[]): string {
  if (text.length <= maxLength) return text;
  const lower = text.toLowerCase();
  const found = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((at) => at >= 0);
  const wanted = Math.max(0, (found.length > 0 ? Math.min(...found) : 0) - before);
  const start = wanted === 0 ? 0 : text.indexOf(' ', wanted) + 1;
  if (text.length - start <= maxLength) return (start > 0 ? '… ' : '') + text.slice(start);
  const end = text.lastIndexOf(' ', start + maxLength);
  return `${start > 0 ? '… ' : ''}${text.slice(start, end > start ? end : start + maxLength)} …`;
}
