import { Store } from '../../state/store';

export const reactionKinds = ['thumbs_up', 'heart', 'laughing', 'clapping', 'surprised'] as const;
export type Reaction = (typeof reactionKinds)[number];

export const isReaction = (value: unknown): value is Reaction => reactionKinds.some((kind) => kind === value);

/** How long a reaction is shown. */
const displayMs = 4_000;

export interface ShownReaction {
  reaction: Reaction;
  /** How many of this kind came while it was shown. */
  count: number;
  /** Increases with every reaction. */
  key: number;
}

/** The current reactions of each person, by identity, at most one of each kind. */
export class Reactions extends Store<ReadonlyMap<string, readonly ShownReaction[]>> {
  #key = 0;

  constructor() {
    super(new Map());
  }

  show(identity: string, reaction: Reaction): void {
    const key = ++this.#key;
    const shown = this.get().get(identity) ?? [];
    const repeated = shown.find((one) => one.reaction === reaction);
    const latest = { reaction, count: (repeated?.count ?? 0) + 1, key };
    this.#replace(identity, repeated ? shown.map((one) => (one === repeated ? latest : one)) : [...shown, latest]);
    // A repetition has a timer of its own.
    setTimeout(() => {
      const remaining = (this.get().get(identity) ?? []).filter((one) => one.key !== key);
      this.#replace(identity, remaining);
    }, displayMs);
  }

  #replace(identity: string, shown: readonly ShownReaction[]): void {
    const all = new Map(this.get());
    if (shown.length > 0) all.set(identity, shown);
    else all.delete(identity);
    this.set(all);
  }
}
