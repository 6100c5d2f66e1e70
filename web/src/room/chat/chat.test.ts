import { describe, expect, test } from 'vitest';
import { type ChatLog, type ChatMessage, emptyLog, excerpt, findMessage, maxEntries, newMessages, reduceChat } from './chatLog';
import { FloodLimiter } from './floodLimiter';
import { linkify } from './linkify';
import { decode, encode, maxTextLength, messageKey, newId, normalizeText } from './packet';
import { possiblyLost, remember, type SentMessage } from './sentMessages';

describe('links in a text', () => {
  const links = (text: string): string[] => linkify(text).flatMap(({ href }) => href ?? []);

  test.each([
    ['see https://example.org', ['https://example.org/']],
    ['HTTP://EXAMPLE.org/A', ['http://example.org/A']],
    ['(https://example.org/a_(b)) and https://example.org/c.', ['https://example.org/a_(b)', 'https://example.org/c']],
    ['https://example.org/?q=1&r=2#x!', ['https://example.org/?q=1&r=2#x']],
    ['http://127.0.0.1:8080/r/x', ['http://127.0.0.1:8080/r/x']],
    ['https://مثال.إختبار/x', ['https://xn--mgbh0fb.xn--kgbechtv/x']],
  ])('are found in %j', (text, want) => {
    expect(links(text)).toEqual(want);
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt://example.org/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://example.org',
    'xhttps://example.org',
    'https://',
    'http://.',
    'https://bank.example@evil.example',
    'https://user:secret@evil.example/',
    'https://@evil.example/',
    'https:// example.org',
    '//example.org',
    'www.example.org',
  ])('are not seen in %j', (text) => expect(linkify(text)).toEqual([{ text }]));

  test.each([
    ['https://\u0430\u0440\u0440\u04cf\u0435.com/', 'xn--80ak6aa92e.com'],
    ['https://m\u00fcnchen.example:8443/x', 'xn--mnchen-3ya.example:8443'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['https://\uff45xample.org', 'example.org'],
    ['https://Example.ORG:443/A?b#c', undefined],
    ['http://127.0.0.1:8080/r/x', undefined],
  ])('show the host that %j leads to', (text, host) => expect(linkify(text).map((piece) => piece.host)).toEqual([host]));

  test('never contain HTML or bidirectional control characters', () => {
    expect(links('<a href="https://example.org" onclick=x>')).toEqual(['https://example.org/']);
    expect(links('https://example.org/"><img src=x>')).toEqual(['https://example.org/']);
    expect(links('https://example.org/\u202egpj.exe')).toEqual(['https://example.org/']);
    expect(links('https://example.org\\@evil.example')).toEqual(['https://example.org/']);
  });

  test('leave the text unchanged', () => {
    for (const text of [
      '',
      'a\nhttps://x.example/?a=b.\n\nb',
      '((https://x.example))',
      'https://x.example…https://y.example',
      '\u{1f44d}https://x.example\u{1f44d}',
    ]) {
      expect(
        linkify(text)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text);
    }
    expect(
      linkify(`https://${'a'.repeat(3_000)}`.concat('!'.repeat(3_000)))
        .map((piece) => piece.text)
        .join(''),
    ).toHaveLength(6_008);
  });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a chat packet', () => {
  test('is decoded as it was encoded', () => {
    const packet = { id: newId(), text: 'Hello <b>you</b>\nhttps://example.org', replyTo: messageKey('seat-1', newId()) };
    expect(decode(encode(packet))).toEqual(packet);
    expect(decode(encode({ ...packet, replyTo: null }))).toEqual({ ...packet, replyTo: null });
  });

  test('has the same maximum length in every script', () => {
    const packet = { id: newId(), replyTo: null };
    for (const letter of ['a', 'ä', '語', '👍']) {
      expect(decode(encode({ ...packet, text: letter.repeat(maxTextLength) }))).not.toBeNull();
      expect(decode(encode({ ...packet, text: letter.repeat(maxTextLength + 1) }))).toBeNull();
    }
  });

  test('does not contain the sender', () => {
    expect(decode(bytes('{"id":"12345678","text":"x","from":"host","name":"Amina"}'))).toEqual({
      id: '12345678',
      text: 'x',
      replyTo: null,
    });
  });

  test.each([
    '',
    'x',
    'null',
    '[]',
    '7',
    '{}',
    '{"id":"12345678"}',
    '{"id":"12345678","text":7}',
    '{"id":"12345678","text":" \\n "}',
    '{"id":"short","text":"x"}',
    '{"id":"a/b/c/d/e","text":"x"}',
    '{"text":"x"}',
  ])('is rejected when it is invalid: %j', (text) => expect(decode(bytes(text))).toBeNull());

  test('is trimmed and has no repeated empty lines', () => expect(normalizeText(' \na\r\n\r\n\r\n\r\nb \n')).toBe('a\n\nb'));
});

function message(n: number, of: Partial<ChatMessage> = {}): ChatMessage {
  return { kind: 'message', key: `seat-2/${n}`, from: 'seat-2', name: 'Ben', you: false, text: `text ${n}`, at: n, replyTo: null, ...of };
}

const write = (log: ChatLog, ...lines: ChatMessage[]): ChatLog =>
  lines.reduce((before, one) => reduceChat(before, { type: 'received', message: one }), log);

describe('the chat log', () => {
  test('counts the messages of others while the chat is closed', () => {
    let log = write(emptyLog, message(1), message(2), message(3, { you: true }));
    expect(log.unread).toBe(2);
    log = write(reduceChat(log, { type: 'open' }), message(4));
    expect(log.unread).toBe(0);
    log = write(reduceChat(log, { type: 'close' }), message(5));
    expect(log.unread).toBe(1);
    // A repeated message is not added again.
    expect(write(log, message(5))).toBe(log);
  });

  test('keeps the newest messages', () => {
    const log = write(emptyLog, ...Array.from({ length: maxEntries + 20 }, (_, i) => message(i)));
    expect(log.entries).toHaveLength(maxEntries);
    expect(log.entries[0]?.key).toBe('seat-2/20');
  });

  test('has one divider between two rooms', () => {
    const move = (log: ChatLog, roomName: string): ChatLog => reduceChat(log, { type: 'moved', roomName });
    expect(move(emptyLog, 'Red').entries).toEqual([]);
    const log = move(move(write(emptyLog, message(1)), 'Red'), 'Blue');
    expect(log.entries.map((entry) => (entry.kind === 'divider' ? entry.roomName : entry.key))).toEqual(['seat-2/1', 'Blue']);
    expect(new Set(move(write(log, message(2)), 'Red').entries.map(({ key }) => key)).size).toBe(4);
  });

  test('finds the message of a reply while it has it', () => {
    const log = write(emptyLog, message(1), message(2, { replyTo: 'seat-2/1' }));
    expect(findMessage(log, 'seat-2/1')?.text).toBe('text 1');
    for (const key of [null, 'seat-9/1', '']) expect(findMessage(log, key)).toBeNull();
  });

  test('returns the new messages of others', () => {
    const before = write(emptyLog, message(1)).entries;
    const after = write(emptyLog, message(1), message(2), message(3, { you: true })).entries;
    expect(newMessages(before, after).map(({ key }) => key)).toEqual(['seat-2/2']);
  });

  test('shortens the text of a quote', () => {
    expect(excerpt('a\n\nb', 10)).toBe('a b');
    expect(excerpt('👍'.repeat(20), 5)).toBe('👍👍👍👍…');
  });
});

test('a sender cannot push the messages of others out of the log', () => {
  const flood = new FloodLimiter();
  const passed = (identity: string, from: number): number =>
    Array.from({ length: 100 }, (_, i) => flood.exceedsLimit(identity, from + i)).filter((over) => !over).length;
  expect(passed('seat-2', 0)).toBe(20);
  expect(passed('seat-3', 50)).toBe(20);
  expect(passed('seat-2', 10_200)).toBe(20);
});

describe('after a lost connection', () => {
  const packet = (n: number) => ({ id: `message-${n}`, text: String(n), replyTo: null });
  const sentAt = (...times: number[]): SentMessage[] =>
    times.reduce<SentMessage[]>((sent, at, n) => remember(sent, { packet: packet(n), at }), []);

  test('the messages after the last received packet are sent again, in their order', () => {
    expect(possiblyLost(sentAt(0, 48_000, 49_500, 51_000), 50_000, 60_000)).toEqual([packet(2), packet(3)]);
    expect(possiblyLost(sentAt(0, 48_000), 50_000, 60_000)).toEqual([]);
  });

  test('the messages of the last 30 seconds are sent again if the browser does not count packets', () => {
    expect(possiblyLost(sentAt(0, 29_000, 31_000), null, 60_000)).toEqual([packet(2)]);
  });

  test('never more than a receiver accepts at once', () => {
    const sent = sentAt(...Array.from({ length: 30 }, () => 55_000));
    const again = possiblyLost(sent, 50_000, 60_000);
    expect(again.at(-1)).toEqual(packet(29));
    const limiter = new FloodLimiter();
    expect(again.filter(() => limiter.exceedsLimit('ben', 0))).toEqual([]);
    expect(again).toHaveLength(10);
  });
});
