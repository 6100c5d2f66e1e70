const hues = 8;

/** Returns which of the eight hues of the style sheet a person has. It is the same on all pages and in all sessions. */
export function hueOf(identity: string): number {
  let hash = 0;
  for (let i = 0; i < identity.length; i++) hash = (Math.imul(hash, 31) + identity.charCodeAt(i)) | 0;
  // The high bits depend on all characters.
  return ((hash ^ (hash >>> 16)) >>> 0) % hues;
}
