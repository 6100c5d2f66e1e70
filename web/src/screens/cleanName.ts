/** Characters that nobody sees and that the server leaves out of a name; see CleanName in internal/validate. */
const invisible = /(?![\u200c-\u200f\u061c\u{E0020}-\u{E007F}])\p{Cf}/gu;
const visible = /(?![\u2800\u3164\u115f\u1160\uffa0])[^\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{M}]/u;

/** Returns a name without invisible characters; empty when nothing visible is left. */
export function cleanName(text: string): string {
  const cleaned = text
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .replace(invisible, '')
    .trim();
  return visible.test(cleaned) ? cleaned : '';
}
