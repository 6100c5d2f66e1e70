import { expect, test } from 'vitest';
import { curlOf, deliveryState, prettyJSON, responseText } from './deliveries';

test('a pending delivery says how many attempts have failed', () => {
  expect(deliveryState({ state: 'pending', held: false, attempt_count: 0 })).toEqual({ text: 'Pending', tone: 'busy' });
  expect(deliveryState({ state: 'pending', held: false, attempt_count: 3 })).toEqual({ text: 'Retrying (3 failed)', tone: 'warn' });
});

test('a pending delivery to a paused target is on hold', () => {
  expect(deliveryState({ state: 'pending', held: true, attempt_count: 0 })).toEqual({ text: 'On hold', tone: 'warn' });
  expect(deliveryState({ state: 'pending', held: true, attempt_count: 3 })).toEqual({ text: 'On hold (3 failed)', tone: 'warn' });
  expect(deliveryState({ state: 'delivered', held: false, attempt_count: 3 })).toEqual({ text: 'Delivered', tone: 'good' });
});

test.each([
  [undefined, '–'],
  [0, 'No response'],
  [503, '503'],
])('the response of the status %j is %s', (status, text) => expect(responseText(status)).toBe(text));

test('a shell reads the command as it was meant', () => {
  expect(curlOf({ url: 'https://host/a?b=c&d', event_id: 'e1', body: `{"title":"It's $HOME"}` })).toBe(
    String.raw`curl -i 'https://host/a?b=c&d' \
  -H 'Content-Type: application/json' \
  -H 'webhook-id: e1' \
  --data-raw '{"title":"It'\''s $HOME"}'`,
  );
});

test('JSON is indented, and other bodies are not changed', () => {
  expect(prettyJSON('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(prettyJSON('<html>')).toBe('<html>');
});
