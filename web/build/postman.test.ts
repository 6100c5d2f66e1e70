import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from './operations.ts';
import { postmanCollection } from './postman.ts';

interface Item {
  name: string;
  item?: Item[];
  request?: { method: string; url: { raw: string }; body?: { raw: string } };
}

const yamls = ['v3', 'v4', 'v5'].map((version) =>
  readFileSync(resolve(import.meta.dirname, `../../internal/api/${version}/openapi.yaml`), 'utf8'),
);
const collection = JSON.parse(postmanCollection(yamls));
const flatten = (items: Item[]): Item[] => items.flatMap((one) => (one.item ? flatten(one.item) : [one]));
const requests = flatten(collection.item).map(({ request }) => request);

test('the collection has a request for every operation', () => {
  const routes = requests.map((one) => `${one?.method} ${one?.url.raw.split('?')[0]}`);
  const described = yamls.flatMap(operations).map(({ method, path }) => {
    return `${method} {{base_url}}${path.replace(/\{(\w+)\}/g, ':$1')}`;
  });
  expect(routes.toSorted()).toEqual(described.toSorted());
  const folders = collection.item.map(({ name }: Item) => name);
  expect(folders).toEqual(['Parley API, version 3', 'Parley API, version 4', 'Parley API, version 5']);
});

test('what only one project knows is a variable, and secrets have no value', () => {
  for (const request of requests) {
    expect(`${request?.url.raw} ${request?.body?.raw}`).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  }
  const secrets = collection.variable.filter(({ type }: { type: string }) => type === 'secret');
  expect(secrets.map(({ key, value }: { key: string; value: string }) => `${key}=${value}`)).toEqual([
    'project_secret=',
    'api_key=',
    'gateway_secret=',
  ]);
});

test('the script knows what is signed in which way', () => {
  const script = collection.event[0].script.exec.join('\n');
  const lists = new Function(`${script.split('const outgoing')[0]}; return { bodySigned, unsigned };`)();
  const files = ['v3/openapi\\.yaml', 'v4/openapi\\.yaml', 'v5/openapi\\.json'];
  expect(lists.unsigned).toEqual(files.map((file) => `GET .*/api/${file}`));
  expect(lists.bodySigned).toHaveLength(10);
  expect(lists.bodySigned).toContain('POST .*/api/v4/webhook/get_room_events/[^/]+');
  expect(lists.bodySigned).toContain('PUT .*/api/v4/projects/update_project_status');
});
