/**
 * The exact origin of the page that shows this one in a frame, or null where it
 * is not said. That the room's project allows it needs no look: the browser has
 * held every page around this one to the policy the page came with. And a
 * message to an origin that is wrong after all reaches nobody.
 */
export function parentOrigin(location: Partial<Pick<Location, 'ancestorOrigins'>>, referrer: string): string | null {
  try {
    const { protocol, origin } = new URL(location.ancestorOrigins?.[0] ?? referrer);
    return protocol === 'https:' || protocol === 'http:' ? origin : null;
  } catch {
    return null;
  }
}
