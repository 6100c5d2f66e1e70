/* global pm, CryptoJS, bodySigned, unsigned */
// Signs a request as its route requires, before Postman sends it. The lists above come from the API descriptions.
const outgoing = pm.request; // request is a name of older scripts

function credential(name) {
  const value = pm.variables.get(name);
  if (!value) throw new Error(`Set the variable ${name} of this collection.`);
  return value;
}

// Postman would fill in the variables only after this script, but the signature covers what is sent.
const nextWeek = new Date(Date.now() + 7 * 24 * 60 * 60 * 1000);
pm.variables.set('next_week', nextWeek.toISOString().slice(0, 10));
const fill = (text) => pm.variables.replaceIn(text);
// What Postman would encode itself.
const encode = (text) => (text === "'" ? '%27' : encodeURIComponent(text));
const address = fill(outgoing.url.toString()).replace(/[^!-~]+|["'<>\\^`{|}]/g, encode);
outgoing.url.update(address);
let body = '';
if (outgoing.body && outgoing.body.mode === 'raw') {
  body = fill(outgoing.body.raw || '');
  outgoing.body.raw = body;
}
const idempotencyHeader = outgoing.headers.one('Idempotency-Key');
let idempotencyKey = '';
if (idempotencyHeader && !idempotencyHeader.disabled) {
  idempotencyKey = fill(idempotencyHeader.value);
  idempotencyHeader.value = idempotencyKey;
}

const target = address.replace(/^[^:]+:\/\/[^/]*/, '');
const route = `${outgoing.method} ${target.split('?')[0]}`;
const isOneOf = (patterns) => patterns.some((pattern) => new RegExp(`${pattern}$`).test(route));
if (isOneOf(bodySigned)) {
  const signature = CryptoJS.HmacSHA256(body, credential('project_secret'));
  outgoing.headers.upsert({ key: 'hash-signature', value: signature.toString(CryptoJS.enc.Base64) });
} else if (!isOneOf(unsigned)) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signedKey = outgoing.method === 'POST' ? idempotencyKey : '';
  const text = ['SVC-HMAC-V5-1', outgoing.method, target, timestamp, signedKey, body].join('\n');
  const signature = CryptoJS.HmacSHA256(text, credential('gateway_secret'));
  outgoing.headers.upsert({ key: 'api-key', value: credential('api_key') });
  outgoing.headers.upsert({ key: 'timestamp', value: timestamp });
  outgoing.headers.upsert({ key: 'hash-signature', value: signature.toString(CryptoJS.enc.Hex) });
}
