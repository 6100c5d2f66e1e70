import { createContext } from 'react';
import { Reactions } from './reactions';

export interface Together {
  /** Identities of those whose hand is up, in the server's order. */
  hands: readonly string[];
  reactions: Reactions;
}

export const TogetherContext = createContext<Together>({ hands: [], reactions: new Reactions() });
