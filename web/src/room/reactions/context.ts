import { createContext } from 'react';
import { Reactions } from './reactions';

export interface HandsAndReactions {
  /** Identities of those whose hand is up, in the server's order. */
  hands: readonly string[];
  reactions: Reactions;
}

export const HandsAndReactionsContext = createContext<HandsAndReactions>({ hands: [], reactions: new Reactions() });
