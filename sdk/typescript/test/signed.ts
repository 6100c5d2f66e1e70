import { signWebhook } from '@parley/sdk';
import { projectId, projectSecret, roomId } from './server.js';

/** The event of the webhooks in the tests. */
export const event = {
  id: '0197c1a5-7d8e-7c3a-9f00-5b1d2e3f4a5b',
  type: 'room.ended',
  timestamp: '2027-01-31T09:30:12.345Z',
  sequence: 4,
  previous: 3,
  project_id: projectId,
  data: { room_id: roomId, room_type: 'video', end_reason: 'api' },
} as const;

/** The body of a webhook, with white space that no JSON library would write. */
export const body = `${JSON.stringify(event, null, 1)}\r\n`;

export interface Signing {
  secret?: string;
  /** How many seconds the timestamp is behind. */
  age?: number;
}

/** Returns the headers of a webhook with a body. */
export async function signedHeaders(text: string, { secret = projectSecret, age = 0 }: Signing = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const signature = await signWebhook(secret, { id: event.id, timestamp, body: text });
  return {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  };
}
