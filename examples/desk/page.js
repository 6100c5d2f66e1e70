// Shows the rooms of each message. Names are written as text and never as HTML.
const state = document.getElementById('state');
const list = document.getElementById('rooms');

function element(name, ...content) {
  const created = document.createElement(name);
  created.append(...content);
  return created;
}

function roomItem({ address, title, people }) {
  const link = element('a', title);
  link.href = address;
  return element('li', element('h2', link), element('p', people.join(', ')));
}

const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => {
  const rooms = Object.values(JSON.parse(data)).sort((a, b) => a.title.localeCompare(b.title));
  const count = rooms.reduce((sum, { people }) => sum + people.length, 0);
  state.textContent = `People in rooms: ${count}`;
  list.replaceChildren(...rooms.map(roomItem));
});
events.addEventListener('error', () => {
  state.textContent = 'The connection is lost. This page tries to connect again.';
});
