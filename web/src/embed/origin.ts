/**
 * Returns the origin of the page that embeds this one in a frame; null when the browser
 * does not reveal it. It is not compared with the project's allowed origins, because the
 * browser has already enforced the frame-ancestors policy, and a message to a wrong origin
 * is not delivered.
 */
export function parentOrigin(location: Partial<Pick<Location, 'ancestorOrigins'>>, referrer: string): string | null {
  try {
    const { protocol, host, origin } = new URL(location.ancestorOrigins?.[0] ?? referrer);
    if (protocol === 'https:' || protocol === 'http:') return origin;
    // A page inside an app, such as capacitor://localhost; `origin` is "null" for such schemes.
    return host === 'localhost' ? `${protocol}//${host}` : null;
  } catch {
    return null;
  }
}
