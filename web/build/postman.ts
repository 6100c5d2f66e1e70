import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: { default?: unknown };
}

type Security = Record<string, string[]>[];

interface Operation {
  summary: string;
  description?: string;
  tags?: string[];
  security?: Security;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Description {
  info: { title: string };
  servers: { url: string }[];
  security: Security;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { parameters?: Record<string, Parameter> };
}

type Signing = 'body' | 'call' | 'none';

interface Variable {
  key: string;
  value: string;
  description?: string;
  disabled?: boolean;
  type?: 'string' | 'secret';
}

interface Request {
  name: string;
  request: {
    method: string;
    description: string;
    header: Variable[];
    url: { raw: string; host: string[]; path: string[]; query: Variable[]; variable: Variable[] };
    body?: { mode: 'raw'; raw: string; options: object };
  };
}

interface Folder {
  name: string;
  description?: string;
  item: (Folder | Request)[];
}

/** The examples in the descriptions that the variables of the collection replace. */
const variableFields = new Set(['project_id', 'room_id']);

const variables: Variable[] = [
  { key: 'base_url', value: 'https://meet.example.org', type: 'string' },
  { key: 'project_id', value: '', type: 'string' },
  { key: 'project_secret', value: '', type: 'secret' },
  { key: 'api_key', value: '', type: 'secret' },
  { key: 'gateway_secret', value: '', type: 'secret' },
  { key: 'room_id', value: '', type: 'string', description: 'A created room sets it.' },
];

const introduction = `Every operation of versions 3, 4 and 5. Set the variables of the collection: the address of
the server and the credentials of your project. A script signs each request before it is sent.`;

/** Stores the ID of a created room, so that the other requests refer to it. */
const storeRoom = `const created = /\\/rooms\\/create_(quick|schedule)_/.test(pm.request.url.getPath());
if (created && pm.response.code === 200) {
  pm.collectionVariables.set('room_id', pm.response.json().room_id);
}`;

const methods = new Set(['get', 'put', 'post', 'delete', 'patch']);

/** Returns a collection for Postman with the operations of API descriptions, which it signs. */
export function postmanCollection(yamls: string[]): string {
  const descriptions = yamls.map((yaml) => parse(yaml) as Description);
  const routes: Record<Signing, string[]> = { body: [], call: [], none: [] };
  for (const description of descriptions) {
    for (const { method, path, operation } of operationsOf(description)) {
      const pattern = path.replace(/[.]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
      routes[signing(operation.security ?? description.security)].push(`${method} .*${pattern}`);
    }
  }
  const script = readFileSync(resolve(import.meta.dirname, 'postmanScript.js'), 'utf8').replace(/^.*\n/, '');
  const lists = `const bodySigned = ${JSON.stringify(routes.body, null, 2)};
const unsigned = ${JSON.stringify(routes.none, null, 2)};
`;
  return JSON.stringify(
    {
      info: {
        name: 'Parley API',
        description: introduction,
        schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
      },
      item: descriptions.map(versionFolder),
      event: [event('prerequest', lists + script), event('test', storeRoom)],
      variable: variables,
    },
    null,
    2,
  );
}

const event = (listen: string, script: string) => ({
  listen,
  script: { type: 'text/javascript', exec: script.trimEnd().split('\n') },
});

/** Returns how a request is signed: only the calls with a timestamp are signed as a whole. */
function signing(security: Security): Signing {
  const [schemes] = security;
  if (!schemes) return 'none';
  return 'timestamp' in schemes ? 'call' : 'body';
}

function operationsOf({ servers, paths }: Description) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: `${servers[0]?.url ?? ''}${path}`,
        operation,
      })),
  );
}

function versionFolder(description: Description): Folder {
  const operations = operationsOf(description);
  const folders = description.tags.map((tag) => ({
    name: tag.name,
    description: tag.description,
    item: operations
      .filter(({ operation }) => operation.tags?.[0] === tag.name)
      .map(({ method, path, operation }) => requestItem(description, method, path, operation)),
  }));
  // The tag of the webhooks has no requests.
  return { name: description.info.title, item: folders.filter(({ item }) => item.length > 0) };
}

function requestItem({ components }: Description, method: string, path: string, operation: Operation): Request {
  const parameters = (operation.parameters ?? []).map((one) => {
    if (!('$ref' in one)) return one;
    const found = components.parameters?.[one.$ref.split('/').at(-1) ?? ''];
    if (!found) throw new Error(`${method} ${path}: the description has no ${one.$ref}`);
    return found;
  });
  const variable = (parameter: Parameter): Variable => ({
    key: parameter.name,
    value: exampleOf(parameter),
    description: parameter.description ?? '',
  });
  const at = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const query = at('query').map((one) => ({ ...variable(one), disabled: !one.required }));
  // The script sends the headers of the signature.
  const header = at('header')
    .filter(({ name }) => name === 'Idempotency-Key')
    .map((one) => ({ ...variable(one), value: '{{$guid}}', disabled: true }));
  const address = path.replace(/\{(\w+)\}/g, ':$1');
  const sent = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  const request: Request['request'] = {
    method,
    description: operation.description ?? '',
    header,
    url: {
      raw: `{{base_url}}${address}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
      host: ['{{base_url}}'],
      path: address.slice(1).split('/'),
      query,
      variable: at('path').map(variable),
    },
  };
  const example = operation.requestBody?.content['application/json']?.example;
  if (example !== undefined) {
    header.unshift({ key: 'Content-Type', value: 'application/json', description: '', disabled: false });
    const raw = JSON.stringify(example, fillField, 2);
    request.body = { mode: 'raw', raw, options: { raw: { language: 'json' } } };
  }
  return { name: operation.summary, request };
}

function exampleOf({ name, example, schema }: Parameter): string {
  if (variableFields.has(name)) return `{{${name}}}`;
  return String(example ?? schema?.default ?? '');
}

/** Returns the value of a field in an example with variables instead of what fits only one project or one day. */
function fillField(name: string, value: unknown): unknown {
  if (variableFields.has(name)) return `{{${name}}}`;
  if (name === 'client_room_id') return 'room-{{$guid}}';
  if (name === 'start_at' && typeof value === 'string') return value.replace(/^[\d-]{10}/, '{{next_week}}');
  return value;
}
