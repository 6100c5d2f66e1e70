import type { Immutable } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { expect, test } from 'vitest';
import { signingHeaders } from './signedWith';

const immutable = (value: unknown): Immutable => ({
  getIn(path) {
    const found = path.reduce((at: unknown, name) => (at as Record<string, unknown> | undefined)?.[name], value);
    return found === undefined ? undefined : immutable(found);
  },
  toJS: () => value,
});

const description = immutable({
  security: [{ signature: [] }],
  paths: {
    '/create': { post: {} },
    '/join': { post: { security: [{ key: [], timed: [] }] } },
    '/openapi.yaml': { get: { security: [] } },
  },
  webhooks: { 'room.opened': { post: {} } },
  components: {
    securitySchemes: {
      signature: { name: 'hash-signature', description: 'Base64.' },
      key: { name: 'api-key', description: 'The key.' },
      timed: { name: 'hash-signature', description: 'Hexadecimal.' },
    },
  },
});

test.each([
  [['paths', '/create', 'post'], ['hash-signature: Base64.']],
  [
    ['paths', '/join', 'post'],
    ['api-key: The key.', 'hash-signature: Hexadecimal.'],
  ],
  [['paths', '/openapi.yaml', 'get'], []],
  [['webhooks', 'room.opened', 'post'], []],
])('the headers that sign %j are %j', (path, headers) => {
  expect(signingHeaders(description, path).map((one) => `${one.name}: ${one.description}`)).toEqual(headers);
});
