import { createContext } from 'react';
import { Reactions } from './reactions';

export interface HandsAndReactions {
  /** The identities of the raised hands, in the server's order. */
  hands: readonly string[];
  reactions: Reactions;
}

export const HandsAndReactionsContext = createContext<HandsAndReactions>({ hands: [], reactions: new Reactions() });
