/** Returns one or two letters for a person without a picture. */
export function initials(name: string): string {
  const all = name.trim().split(/\s+/u).filter(Boolean);
  // Not of what is in parentheses, such as the number of a second person with the name.
  const lettered = all.filter((word) => !/^\p{P}/u.test(word));
  const words = lettered.length > 0 ? lettered : all;
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  // By code point, because a name may start with a character outside the basic plane.
  return ends
    .map((word) => (word ? (Array.from(word)[0] ?? '') : ''))
    .join('')
    .toLocaleUpperCase();
}
