/** Something somebody wrote. */
export interface ChatMessage {
  kind: 'message';
  key: string;
  from: string;
  name: string;
  you: boolean;
  text: string;
  at: number;
  replyTo: string | null;
}

/** From here on it is the chat of another place. */
export interface RoomDivider {
  kind: 'divider';
  key: string;
  roomName: string;
}

export type LogEntry = ChatMessage | RoomDivider;

/** What this page has of the chat. */
export interface ChatLog {
  entries: readonly LogEntry[];
  /** The reader has it open. */
  open: boolean;
  /** How many lines of others came while it was closed. */
  unread: number;
}

export type ChatEvent = { type: 'received'; message: ChatMessage } | { type: 'moved'; roomName: string } | { type: 'open' | 'close' };

/** More than anybody reads again; the oldest go. */
export const maxEntries = 500;

export const emptyLog: ChatLog = { entries: [], open: false, unread: 0 };

export function reduceChat(log: ChatLog, event: ChatEvent): ChatLog {
  switch (event.type) {
    case 'received': {
      const { message } = event;
      if (log.entries.some(({ key }) => key === message.key)) return log;
      return { ...log, entries: [...log.entries, message].slice(-maxEntries), unread: log.unread + (log.open || message.you ? 0 : 1) };
    }
    case 'moved': {
      const last = log.entries.at(-1);
      // Where nobody wrote there is nothing to part from.
      if (!last) return log;
      const before = last.kind === 'divider' ? log.entries.slice(0, -1) : log.entries;
      const dividerKey = last.kind === 'divider' ? last.key : `divider ${last.key}`;
      return { ...log, entries: [...before, { kind: 'divider' as const, key: dividerKey, roomName: event.roomName }].slice(-maxEntries) };
    }
    case 'open':
      return { ...log, open: true, unread: 0 };
    case 'close':
      return { ...log, open: false };
  }
}

/** The line that another one answers, while this page has it. */
export function findMessage(log: ChatLog, key: string | null): ChatMessage | null {
  const entry = key === null ? undefined : log.entries.find((one) => one.key === key);
  return entry?.kind === 'message' ? entry : null;
}

/** What is new since somebody last looked: lines of others, at most as many as are kept. */
export function newMessages(before: readonly LogEntry[], after: readonly LogEntry[]): ChatMessage[] {
  const known = new Set(before.map(({ key }) => key));
  return after.filter((entry): entry is ChatMessage => entry.kind === 'message' && !entry.you && !known.has(entry.key));
}

/** The beginning of a long text, whole characters only. */
export function excerpt(text: string, maxLength: number): string {
  const flat = text.replace(/\s+/g, ' ');
  const characters = Array.from(flat);
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('').trimEnd()}…` : flat;
}
