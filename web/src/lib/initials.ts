/** One or two letters for somebody without a picture. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  // By code point, not by half of one: names hold more than letters.
  return ends.map((word) => (word ? (Array.from(word)[0] ?? '') : '')).join('').toLocaleUpperCase();
}
