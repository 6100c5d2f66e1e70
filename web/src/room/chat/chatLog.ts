/** A chat message. */
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

/** Marks that the following messages belong to another room. */
export interface RoomDivider {
  kind: 'divider';
  key: string;
  roomName: string;
}

export type LogEntry = ChatMessage | RoomDivider;

/** The chat as this page has it. */
export interface ChatLog {
  entries: readonly LogEntry[];
  /** The chat is open. */
  open: boolean;
  /** The number of messages of others that arrived while it was closed. */
  unread: number;
}

export type ChatEvent = { type: 'received'; message: ChatMessage } | { type: 'moved'; roomName: string } | { type: 'open' | 'close' };

/** The oldest entries are dropped. */
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
      // An empty log needs no divider.
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

/** Returns the message with this key; null when the log no longer has it. */
export function findMessage(log: ChatLog, key: string | null): ChatMessage | null {
  const entry = key === null ? undefined : log.entries.find((one) => one.key === key);
  return entry?.kind === 'message' ? entry : null;
}

/** Returns the messages of others that are in `after` and not in `before`. */
export function newMessages(before: readonly LogEntry[], after: readonly LogEntry[]): ChatMessage[] {
  const known = new Set(before.map(({ key }) => key));
  return after.filter((entry): entry is ChatMessage => entry.kind === 'message' && !entry.you && !known.has(entry.key));
}

/** Returns the beginning of a text, without splitting a character. */
export function excerpt(text: string, maxLength: number): string {
  const flat = text.replace(/\s+/g, ' ');
  const characters = Array.from(flat);
  return characters.length > maxLength
    ? `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`
    : flat;
}
