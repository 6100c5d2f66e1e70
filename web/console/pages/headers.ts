import type { Schemas } from '../api/client';

/** Reads headers that were pasted: one a line as in HTTP, or the -H arguments of curl. */
export function readHeaders(text: string): Schemas['SentHeader'][] {
  return text.split(/\r?\n/).flatMap((line) => {
    const header = line
      .trim()
      .replace(/^-H\s+/, '')
      .replace(/\s*\\$/, '')
      .replace(/^(['"])(.*)\1$/, '$2');
    const [, name, value = ''] = /^([^:\s]+)\s*:\s*(.*)$/.exec(header) ?? [];
    return name ? [{ name, value: value.trim() }] : [];
  });
}
