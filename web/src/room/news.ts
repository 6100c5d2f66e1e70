import { count, t } from '../messages';

interface Named {
  identity: string;
  name: string;
}

/** What to say when people come and go; null when there is nothing to say. */
export function newsOf(before: readonly Named[], after: readonly Named[]): string | null {
  const missing = (from: readonly Named[], others: readonly Named[]): Named[] => {
    const known = new Set(others.map(({ identity }) => identity));
    return from.filter(({ identity }) => !known.has(identity));
  };
  const joined = missing(after, before);
  const left = missing(before, after);
  const sentences: string[] = [];
  const [comer] = joined;
  if (comer) {
    sentences.push(joined.length > 1 ? count('say.joined.many', joined.length) : t('say.joined', { name: comer.name }));
  }
  const [leaver] = left;
  if (leaver) sentences.push(left.length > 1 ? count('say.left.many', left.length) : t('say.left', { name: leaver.name }));
  return sentences.length > 0 ? sentences.join(' ') : null;
}
