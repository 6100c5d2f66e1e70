import { expect, test } from 'vitest';
import { JoinApi } from '../api/client';
import { RatingSender } from './ratingSender';

test('a meeting is rated once, and again only when the response was lost', async () => {
  const responses = [() => Promise.reject(new Error('offline')), () => Promise.resolve(new Response(null, { status: 204 }))];
  const sent: unknown[] = [];
  const api = new JoinApi('a', (_, init) => {
    sent.push(JSON.parse(String(init?.body)));
    return responses.shift()?.() ?? Promise.reject(new Error('too many requests'));
  });
  const values = new Map<string, string>();
  const storage = { get: (key: string) => values.get(key) ?? null, set: (key: string, value: string) => void values.set(key, value) };
  const rating = new RatingSender(api, Promise.resolve('k'.repeat(43)), storage, 'room');
  expect(await rating.send?.('bad')).toMatchObject({ is: 'unreachable' });
  expect(await rating.send?.('good')).toMatchObject({ is: 'ok' });
  expect(rating.send).toBeNull();
  expect(sent).toEqual([
    { seat_key: 'k'.repeat(43), rating: 'bad' },
    { seat_key: 'k'.repeat(43), rating: 'good' },
  ]);
});
