import type { Schemas } from '../api/client';
import type { Tone } from '../ui/values';

type Webhook = Schemas['Webhook'];

/** Describes how far a delivery is. */
export function deliveryState({ state, attempt_count }: Pick<Webhook, 'state' | 'attempt_count'>): { text: string; tone: Tone } {
  switch (state) {
    case 'delivered':
      return { text: 'Delivered', tone: 'good' };
    case 'failed':
      return { text: 'Failed', tone: 'bad' };
    case 'gone':
      return { text: 'Target gone', tone: 'bad' };
    case 'pending':
      return attempt_count === 0 ? { text: 'Pending', tone: 'busy' } : { text: `Retrying (${attempt_count} failed)`, tone: 'warn' };
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns a curl command that sends the body of a delivery to its target, without a signature. */
export function curlOf({ url, event_id, body = '' }: Pick<Webhook, 'url' | 'event_id' | 'body'>): string {
  return [
    `curl -i ${quote(url)}`,
    `-H ${quote('Content-Type: application/json')}`,
    `-H ${quote(`webhook-id: ${event_id}`)}`,
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');
}

/** Indents JSON; other texts stay as they are. */
export function prettyJSON(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
