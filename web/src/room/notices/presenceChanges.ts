import { count, t } from '../../messages';

interface Named {
  identity: string;
  name: string;
}

/** Describes who joined and left; null when nobody did. */
export function describePresenceChanges(before: readonly Named[], after: readonly Named[]): string | null {
  const missing = (from: readonly Named[], others: readonly Named[]): Named[] => {
    const known = new Set(others.map(({ identity }) => identity));
    return from.filter(({ identity }) => !known.has(identity));
  };
  const joined = missing(after, before);
  const left = missing(before, after);
  const sentences: string[] = [];
  const [firstJoined] = joined;
  if (firstJoined) {
    sentences.push(joined.length > 1 ? count('say.joined.many', joined.length) : t('say.joined', { name: firstJoined.name }));
  }
  const [firstLeft] = left;
  if (firstLeft) sentences.push(left.length > 1 ? count('say.left.many', left.length) : t('say.left', { name: firstLeft.name }));
  return sentences.length > 0 ? sentences.join(' ') : null;
}
