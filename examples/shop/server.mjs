// A shop with a button "Talk to us": the customer gets a video room inside a page of the shop, and /desk shows the
// staff who is waiting. The conversations are in memory only, because this is an example.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { InvalidRequestError, NotFoundError, ParleyClient } from '@parley/sdk';

const parley = ParleyClient.fromEnvironment();
const meetings = new URL(process.env.PARLEY_URL).origin;
const port = Number(process.env.PORT || 8091);
const productPage = await readFile(new URL('product.html', import.meta.url), 'utf8');
const files = { '/style.css': 'text/css', '/talk.js': 'text/javascript' };

// The policy lets a page load the component and show its frame, both only from the Parley server.
const headers = {
  'Content-Security-Policy':
    `default-src 'none'; script-src 'self' ${meetings}; frame-src ${meetings}; style-src 'self'; ` +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store', // because pages contain links for one person
  'X-Content-Type-Options': 'nosniff',
};

/** Promises of conversations by the key of their form, so that a double click waits for the same room. */
const conversations = new Map();

function openConversation(key, name) {
  if (!conversations.has(key)) {
    const conversation = createConversation(key, name);
    conversations.set(key, conversation);
    conversation.catch(() => conversations.delete(key)); // the next click tries again
  }
  return conversations.get(key);
}

async function createConversation(key, name) {
  // With an idempotency key, the SDK repeats a call after a lost response, and gets the same room and the same link.
  const room = await parley.createQuickVideoRoom({
    name: 'The shop',
    max_participants: 4,
    empty_timeout: 60,
    metadata: { room_title: `The blue teapot: ${name}`, welcome_message: '' },
    idempotency_key: key,
  });
  const customer = await parley.joinRoom({ room_id: room.room_id, user_info: { name }, idempotency_key: key });
  return { name, since: new Date(), roomId: room.room_id, hostLink: room.final_link, link: customer.final_link };
}

/** Returns the conversations whose room is open, and removes the others. */
async function readWaiting() {
  const waiting = [];
  for (const [key, pending] of [...conversations]) {
    const conversation = await pending.catch(() => null);
    if (conversation && (await isOpen(conversation.roomId))) waiting.push(conversation);
    else conversations.delete(key);
  }
  return waiting;
}

async function isOpen(room_id) {
  try {
    return (await parley.roomStatus({ room_id })).status;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

const escapeHtml = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const refresh = '<meta http-equiv="refresh" content="10">';
const page = (title, body, head = '') => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="stylesheet" href="/style.css">${head}</head>
<body><main><h1>${escapeHtml(title)}</h1>${body}<p><a href="/">Back to the shop</a></p></main></body></html>`;

function talkPage({ link }) {
  const body = `<p id="state" role="status">Please come in. We will be with you in a moment.</p>
<parley-room link="${escapeHtml(link)}" title="Conversation with the shop"></parley-room>
<script src="/talk.js"></script>`;
  return page('Talk to us', body, `<script src="${escapeHtml(meetings)}/embed.js" async></script>`);
}

// In a real shop, the login of the staff must protect this page, because its links make people hosts.
function deskPage(waiting) {
  const items = waiting.map(({ name, since, hostLink }) => {
    const time = since.toTimeString().slice(0, 5);
    return `<li><span><strong>${escapeHtml(name)}</strong> since ${time}</span>
<a class="button" href="${escapeHtml(hostLink)}" target="_blank" rel="noopener">Talk to ${escapeHtml(name)}</a></li>`;
  });
  return page('Waiting customers', `<ul>${items.join('') || '<li>No customer is waiting.</li>'}</ul>`, refresh);
}

async function readForm(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) if (text.length < 10_000) text += chunk;
  const form = new URLSearchParams(text);
  return { key: form.get('key') ?? '', name: (form.get('name') ?? '').trim() };
}

async function respond(request, send) {
  const { pathname } = new URL(request.url, 'http://shop.invalid');
  const route = `${request.method} ${pathname}`;
  // Each form has a key of its own, so that a double click or a form that is sent again opens no second room.
  if (route === 'GET /') return send(200, productPage.replace('{{key}}', randomUUID()));
  if (route === 'GET /desk') return send(200, deskPage(await readWaiting()));
  if (files[pathname]) return send(200, await readFile(new URL(`.${pathname}`, import.meta.url)), files[pathname]);
  if (route === 'POST /talk') {
    const { key, name } = await readForm(request);
    const isValid = /^[0-9a-f-]{36}$/.test(key) && name !== '' && name.length <= 100;
    if (!isValid) return send(400, page('Please enter your name', ''));
    await openConversation(key, name);
    return send(303, '', 'text/html', { Location: `/talk/${key}` });
  }
  // Only the customer knows the key in this address.
  const conversation = route.startsWith('GET /talk/') && (await conversations.get(pathname.slice('/talk/'.length)));
  return conversation ? send(200, talkPage(conversation)) : send(404, page('There is nothing here any more', ''));
}

createServer((request, response) => {
  const send = (status, text, type = 'text/html', more = {}) =>
    response.writeHead(status, { ...headers, 'Content-Type': `${type}; charset=utf-8`, ...more }).end(text);
  respond(request, send).catch((error) => {
    if (error instanceof InvalidRequestError && error.status === 400) { // it says what a name must not contain
      return send(400, page('Please check your name', `<p>${escapeHtml(error.message)}.</p>`));
    }
    console.error(error); // errors of the SDK contain no secrets
    send(502, page('Please try again in a moment', '', request.method === 'GET' ? refresh : ''));
  });
}).listen(port, '127.0.0.1', () => console.log(`The shop runs at http://127.0.0.1:${port}, for its staff at /desk`));
