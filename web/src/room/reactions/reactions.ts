import { Store } from '../../state/store';

export const reactionKinds = ['thumbs_up', 'heart', 'laughing', 'clapping', 'surprised'] as const;
export type Reaction = (typeof reactionKinds)[number];

export const isReaction = (value: unknown): value is Reaction => reactionKinds.some((kind) => kind === value);

/** How long a reaction is shown. */
const displayMs = 4_000;

export interface ShownReaction {
  reaction: Reaction;
  /** Distinguishes repeated reactions of the same kind. */
  key: number;
}

/** The current reaction of each person, by identity. */
export class Reactions extends Store<ReadonlyMap<string, ShownReaction>> {
  #key = 0;

  constructor() {
    super(new Map());
  }

  show(identity: string, reaction: Reaction): void {
    const key = ++this.#key;
    this.set(new Map(this.get()).set(identity, { reaction, key }));
    setTimeout(() => {
      if (this.get().get(identity)?.key !== key) return;
      const remaining = new Map(this.get());
      remaining.delete(identity);
      this.set(remaining);
    }, displayMs);
  }
}
