// Has the public library verify webhooks: reads a JSON array of
// {secret, headers, body} from standard input, the body in Base64, and writes an
// array of what the library says: the event's id, or its refusal.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const verdicts = JSON.parse(readFileSync(0, 'utf8')).map(({ secret, headers, body }) => {
  try {
    return { id: new Webhook(secret).verify(Buffer.from(body, 'base64'), headers).id };
  } catch (error) {
    return { refusal: error.message };
  }
});
process.stdout.write(JSON.stringify(verdicts));
