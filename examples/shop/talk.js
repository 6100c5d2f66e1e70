// Tells the customer where the conversation is. The events of the component contain no names.
const room = document.querySelector('parley-room');
const show = (text) => document.getElementById('state').replaceChildren(text);

room.addEventListener('people', ({ detail }) => {
  show(detail.count > 1 ? 'You are talking to us.' : 'We will be with you in a moment.');
});
room.addEventListener('left', () => show('You left the conversation.'));
room.addEventListener('ended', () => {
  show('The conversation is over. Thank you for your visit!');
  room.remove();
});
