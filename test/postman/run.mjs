// Sends requests of the Postman collection of a server in a given order, and prints their responses as JSON.
import newman from 'newman';

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { url, variables, steps } = JSON.parse(Buffer.concat(input).toString());

const response = await fetch(`${url}/docs/parley.postman_collection.json`);
if (!response.ok) throw new Error(`the collection: got status ${response.status}`);
const collection = await response.json();
for (const variable of collection.variable) variable.value = variables[variable.key] ?? variable.value;

const requests = collection.item.flatMap((version) => version.item).flatMap((tag) => tag.item);
collection.item = steps.map(({ method, path, body, query, idempotencyKey }) => {
  const raw = `{{base_url}}${path}`;
  const found = requests.find(({ request }) => request.method === method && request.url.raw.split('?')[0] === raw);
  if (!found) throw new Error(`the collection has no ${method} ${path}`);
  const item = structuredClone(found);
  item.name = `${method} ${path}`;
  if (body) item.request.body.raw = body;
  for (const one of item.request.header) if (one.key === 'Idempotency-Key') one.disabled = !idempotencyKey;
  for (const [key, value] of Object.entries(query ?? {})) {
    item.request.url.query = item.request.url.query.filter((one) => one.key !== key);
    item.request.url.query.push({ key, value });
  }
  return item;
});

const results = [];
newman
  .run({ collection, timeoutRequest: 60_000 })
  .on('request', (error, { item, request, response: got }) => {
    const sent = request ? `${request.method} ${request.url.toString()}` : '';
    const body = got ? got.stream.toString() : '';
    results.push({ name: item.name, sent, status: got?.code ?? 0, body, error: error?.message ?? '' });
  })
  .on('done', (error, summary) => {
    const failures = (summary?.run.failures ?? []).map((one) => `${one.source?.name}: ${one.error.message}`);
    if (error) failures.push(error.message);
    process.stdout.write(JSON.stringify({ results, failures }));
  });
