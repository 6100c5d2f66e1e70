import { type RemoteParticipant, Room, RoomEvent } from 'livekit-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServerMessages } from './serverMessages';

let room: Room;
let messages: ServerMessages;
let received: unknown[];

beforeEach(() => {
  room = new Room();
  messages = new ServerMessages(room);
  received = [];
});

/** Collects the messages of all kinds. */
function collectAll(): void {
  const collect = (message: unknown): void => void received.push(message);
  messages.subscribe({ move: collect, broadcast: collect, reaction: collect, muted: collect, unmute: collect });
}

interface Origin {
  topic?: string;
  sender?: RemoteParticipant;
  identity?: string;
}

function receive(text: string, { topic = 'parley', sender, identity }: Origin = {}): void {
  room.emit(RoomEvent.DataReceived, new TextEncoder().encode(text), sender, undefined, topic, undefined, identity);
}

describe('a message of the server', () => {
  beforeEach(collectAll);

  test.each([
    { kind: 'move' },
    { kind: 'broadcast', text: 'Five minutes', from: 'Amina' },
    { kind: 'reaction', identity: 'seat-2', reaction: 'heart' },
    { kind: 'muted', from: 'Amina' },
    { kind: 'unmute', from: 'Amina' },
  ])('is delivered: $kind', (message) => {
    receive(JSON.stringify({ ...message, unknown: 1 }), { identity: '' });
    receive(JSON.stringify(message));
    expect(received).toEqual([message, message]);
  });

  test.each(['broadcast', 'muted', 'unmute'])('may come without the name of a host: %s', (kind) => {
    receive(JSON.stringify({ kind, text: 'Five minutes' }));
    expect(received).toEqual([expect.objectContaining({ kind, from: '' })]);
  });

  test('is only accepted with its topic', () => {
    receive('{"kind":"move"}', { topic: 'chat' });
    receive('{"kind":"move"}', { topic: '' });
    expect(received).toEqual([]);
  });

  test.each([
    '{"kind":"move"}',
    '{"kind":"broadcast","text":"Go away","from":"Amina"}',
    '{"kind":"reaction","identity":"seat-2","reaction":"heart"}',
    '{"kind":"muted","from":"Amina"}',
  ])('is not accepted from a participant: %s', (text) => {
    receive(text, { identity: 'seat-2' });
    receive(text, { sender: { identity: 'seat-2' } as RemoteParticipant });
    expect(received).toEqual([]);
  });

  test.each([
    '',
    'x',
    'null',
    '7',
    '[]',
    '{"kind":',
    '{"kind":"new"}',
    '{"kind":"toString"}',
    '{"kind":"broadcast"}',
    '{"kind":"reaction","identity":"seat-2","reaction":"spam"}',
    '{"kind":"reaction","reaction":"heart"}',
  ])('is ignored when it is unknown or broken: %j', (text) => {
    receive(text);
    expect(received).toEqual([]);
  });
});

describe('a subscriber', () => {
  test('receives its kinds only, as every other subscriber, until it unsubscribes', () => {
    const texts: string[] = [];
    const unsubscribe = messages.subscribe({
      muted: ({ from }) => texts.push(`${from} muted`),
      unmute: ({ from }) => texts.push(`${from} asks`),
    });
    messages.subscribe({ muted: ({ from }) => texts.push(`${from} muted, too`) });
    receive('{"kind":"muted","from":"Amina"}');
    receive('{"kind":"move"}');
    receive('{"kind":"unmute","from":"Béla"}');
    unsubscribe();
    receive('{"kind":"muted","from":"Carlos"}');
    expect(texts).toEqual(['Amina muted', 'Amina muted, too', 'Béla asks', 'Carlos muted, too']);
  });
});
