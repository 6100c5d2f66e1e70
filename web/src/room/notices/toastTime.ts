const minMs = 6_000;
/** A slow reader takes this long for a character. */
const msPerCharacter = 80;

/** Returns how long a toast with a text of this length is shown: six seconds, or longer for a long text. */
export const displayMs = (length: number): number => Math.max(minMs, length * msPerCharacter);
