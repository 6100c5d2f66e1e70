/** The connections that browsers keep open to a server with HTTP/1.1. */
const keptConnections = 6;
/** A server that takes longer than this for a small file does not respond on that connection. */
const timeoutMs = 1_500;

/**
 * Sends six small requests at once, so that with HTTP/1.1 each uses another connection, closes those on which
 * no response comes, and returns whether any came. A browser keeps up to six connections, and behind a proxy
 * all may lead to the same node: each later request would use the next one of them and time out,
 * although a new connection leads to another node. Aborting a request closes its connection.
 */
export async function probeConnections(fetcher: typeof fetch = (...request) => fetch(...request)): Promise<boolean> {
  const probe = async (): Promise<boolean> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    try {
      await (await fetcher('/favicon.svg', { cache: 'no-store', signal: abort.signal })).arrayBuffer();
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  };
  return (await Promise.all(Array.from({ length: keptConnections }, probe))).includes(true);
}
