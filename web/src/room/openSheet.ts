/** The sheet that is open; null when none is. */
export type OpenSheet = 'people' | 'react' | 'more' | 'rooms' | 'end' | 'keys' | 'check' | 'locks' | 'invite' | null;
