// Runs the shared conformance tables with the installed package: one line of JSON in, one line of JSON out.
import { createInterface } from 'node:readline';
import { format, inspect } from 'node:util';
import * as sdk from '@parley/sdk';

const { ParleyClient, ParleyError } = sdk;

/** The methods that take no arguments, but only the options of a call. */
const withoutArguments = new Set(['active_rooms', 'keys', 'usage', 'limits']);

const actions = {
  async call({ base_url, credentials, options, operation, arguments: values = {} }) {
    const client = new ParleyClient({ base_url, ...credentials, ...options });
    const method = operation.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
    const returned = withoutArguments.has(operation) ? client[method]() : client[method](values);
    if (Symbol.asyncIterator in returned) {
      const items = [];
      for await (const item of returned) items.push(item);
      return { result: { items } };
    }
    const result = await returned;
    if (Array.isArray(result)) return { result: { items: result } };
    return { result: typeof result === 'string' ? { text: result } : result };
  },

  async sign({ profile, case: vector }) {
    const { secrets, signed_with = secrets, signature } = vector;
    const body = vector.body_base64 === undefined ? vector.body : Buffer.from(vector.body_base64, 'base64');
    if (profile === sdk.SIGNING_PROFILE) {
      const request = { ...vector, body };
      return {
        signature: await sdk.signRequest(signed_with[0], request),
        valid: await sdk.verifyRequest(secrets[0], request, signature),
      };
    }
    if (profile === 'legacy-body') {
      return {
        signature: await sdk.signBody(signed_with[0], body),
        valid: await sdk.verifyBody(secrets[0], body, signature),
      };
    }
    const webhook = { ...vector, body };
    const valid = await sdk.verifyWebhookSignature(secrets, webhook, signature);
    // An ID that would make the signed text ambiguous is not signed.
    const signed = await sdk.signWebhook(signed_with, webhook).catch(() => '');
    return { signature: signed, valid };
  },

  async webhook({ secrets, headers, body, now }) {
    return { event: await sdk.verifyWebhook({ secrets, headers, body, now }) };
  },

  print({ credentials }) {
    const client = new ParleyClient({ base_url: 'https://meet.example.org', ...credentials });
    const deep = { depth: Number.POSITIVE_INFINITY, showHidden: true };
    const text = [
      String(client),
      `${client}`,
      JSON.stringify(client),
      JSON.stringify({ ...client }),
      inspect(client, deep),
      inspect({ client }, { ...deep, customInspect: false }),
      format('%s %o %O %j', client, client, client, client),
      Object.getOwnPropertyNames(client).join(),
    ];
    return { text: text.join('\n') };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const request = JSON.parse(line);
  let answer;
  try {
    answer = await actions[request.do](request);
  } catch (error) {
    answer = { error: error instanceof ParleyError ? error.toJSON() : { kind: 'other', message: String(error) } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
