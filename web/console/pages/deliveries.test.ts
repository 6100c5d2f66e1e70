import { expect, test } from 'vitest';
import { curlOf, deliveryState, prettyJSON } from './deliveries';

test('a pending delivery says how many attempts have failed', () => {
  expect(deliveryState({ state: 'pending', attempt_count: 0 })).toEqual({ text: 'Pending', tone: 'busy' });
  expect(deliveryState({ state: 'pending', attempt_count: 3 })).toEqual({ text: 'Retrying (3 failed)', tone: 'warn' });
});

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
