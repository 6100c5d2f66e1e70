/** Something somebody wrote. */
export interface Line {
  kind: 'line';
  key: string;
  from: string;
  name: string;
  you: boolean;
  text: string;
  at: number;
  replyTo: string | null;
}

/** From here on it is the chat of another place. */
export interface Crossing {
  kind: 'crossing';
  key: string;
  place: string;
}

export type Entry = Line | Crossing;

/** What this page has of the chat. */
export interface Log {
  entries: readonly Entry[];
  /** The reader has it open. */
  open: boolean;
  /** How many lines of others came while it was closed. */
  unread: number;
}

export type Turn = { type: 'wrote'; line: Line } | { type: 'moved'; place: string } | { type: 'open' | 'close' };

/** More than anybody reads again; the oldest go. */
export const kept = 500;

export const blank: Log = { entries: [], open: false, unread: 0 };

export function turn(log: Log, happened: Turn): Log {
  switch (happened.type) {
    case 'wrote': {
      const { line } = happened;
      if (log.entries.some(({ key }) => key === line.key)) return log;
      return { ...log, entries: [...log.entries, line].slice(-kept), unread: log.unread + (log.open || line.you ? 0 : 1) };
    }
    case 'moved': {
      const last = log.entries.at(-1);
      // Where nobody wrote there is nothing to part from.
      if (!last) return log;
      const before = last.kind === 'crossing' ? log.entries.slice(0, -1) : log.entries;
      const number = last.kind === 'crossing' ? last.key : `crossing ${last.key}`;
      return { ...log, entries: [...before, { kind: 'crossing' as const, key: number, place: happened.place }].slice(-kept) };
    }
    case 'open':
      return { ...log, open: true, unread: 0 };
    case 'close':
      return { ...log, open: false };
  }
}

/** The line that another one answers, while this page has it. */
export function answered(log: Log, key: string | null): Line | null {
  const entry = key === null ? undefined : log.entries.find((one) => one.key === key);
  return entry?.kind === 'line' ? entry : null;
}

/** What is new since somebody last looked: lines of others, at most as many as are kept. */
export function since(before: readonly Entry[], after: readonly Entry[]): Line[] {
  const known = new Set(before.map(({ key }) => key));
  return after.filter((entry): entry is Line => entry.kind === 'line' && !entry.you && !known.has(entry.key));
}

/** The beginning of a long text, whole characters only. */
export function beginning(text: string, most: number): string {
  const flat = text.replace(/\s+/g, ' ');
  const characters = Array.from(flat);
  return characters.length > most ? `${characters.slice(0, most - 1).join('').trimEnd()}…` : flat;
}
