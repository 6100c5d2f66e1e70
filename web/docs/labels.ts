/** How many choices are remembered. Some groups have other labels than languages, such as the names of tools. */
const maxRemembered = 10;

/** A group with one of these also serves readers who chose the other. */
const similar: Record<string, string> = { TypeScript: 'JavaScript', JavaScript: 'TypeScript' };

/** Returns the index of the label that was chosen most recently, or else 0. */
export function chooseLabel(labels: string[], chosen: string[]): number {
  for (const label of chosen) {
    const exact = labels.indexOf(label);
    const found = exact >= 0 ? exact : labels.indexOf(similar[label] ?? '');
    if (found >= 0) return found;
  }
  return 0;
}

/** Returns the choices with a new one, the most recent first. */
export function remember(chosen: string[], label: string): string[] {
  return [label, ...chosen.filter((other) => other !== label)].slice(0, maxRemembered);
}
