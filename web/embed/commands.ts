import type { Command, CommandMessage, Reply } from '../src/embed/protocol';

/** Milliseconds until a command fails to which the frame does not reply. */
export const replyTimeoutMs = 10_000;

interface Pending {
  resolve: () => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
}

/** The commands to one frame that wait for its reply. */
export class Commands {
  readonly #pending = new Map<number, Pending>();
  readonly #post: (message: CommandMessage) => void;
  #lastId = 0;

  constructor(post: (message: CommandMessage) => void) {
    this.#post = post;
  }

  /** Sends a command. The promise is rejected with a sentence if the frame cannot do it, or does not reply. */
  send(command: Command): Promise<void> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error(`The room did not reply within ${replyTimeoutMs / 1000} seconds.`));
      }, replyTimeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#post({ source: 'parley-host', id, command });
    });
  }

  settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    this.#pending.delete(reply.id);
    clearTimeout(pending.timer);
    if (reply.ok) pending.resolve();
    else pending.reject(new Error(reply.error));
  }

  /** Rejects all commands, because the frame is gone. */
  cancel(): void {
    for (const id of [...this.#pending.keys()]) {
      this.settle({ type: 'reply', id, ok: false, error: 'The element does not show this room any more.' });
    }
  }
}
