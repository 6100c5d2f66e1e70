import { describe, expect, test } from 'vitest';
import { searchIn } from '../docs/searchEngine.ts';
import { renderGuide } from './markdown.ts';
import { operations } from './operations.ts';
import { guideEntries, operationEntries, searchIndex } from './searchIndex.ts';

const guide = `# Receive events

An introduction with a [link](signing.md).

\`\`\`sh
secret code
\`\`\`

## Retries

- after a *minute*
- after an hour

| Type | When |
|---|---|
| \`room.opened\` | people can join |
`;

const errors = `# Errors

## Version 5

| Status | Code | What to do |
|---|---|---|
| 401 | \`SVC_UNAUTHORIZED\` | check the clock |
`;

const description = `
servers: [{ url: /api/v4 }]
paths:
  /rooms/end_room:
    parameters: []
    post:
      operationId: endRoom
      tags: [companion]
      summary: End a room
      description: |
        Ends a room for \`everybody\`.

        A second paragraph.
  /rooms/list:
    get: { operationId: list, summary: List the rooms of the project. }
`;

describe('the entries of the search', () => {
  test('are the sections of a guide, without code', () => {
    expect(guideEntries('webhooks', 'Webhooks', renderGuide(guide))).toEqual([
      { page: 'Webhooks', heading: 'Receive events', text: 'An introduction with a link.', address: '/docs/webhooks' },
      {
        page: 'Webhooks',
        heading: 'Retries',
        text: 'after a minute after an hour room.opened · people can join',
        address: '/docs/webhooks#retries',
      },
    ]);
  });

  test('are the rows of the table of errors', () => {
    expect(guideEntries('errors', 'Errors', renderGuide(errors, { rowAnchors: true }))).toContainEqual({
      page: 'Errors',
      heading: '401 · SVC_UNAUTHORIZED',
      text: 'check the clock',
      address: '/docs/errors#svc_unauthorized',
    });
  });

  test('are the operations of a description', () => {
    expect(operationEntries('v4', 'Version 4', operations(description))).toEqual([
      {
        page: 'Reference, version 4',
        heading: 'POST /api/v4/rooms/end_room',
        text: 'End a room. Ends a room for everybody.',
        address: '/docs/v4#/companion/endRoom',
      },
      {
        page: 'Reference, version 4',
        heading: 'GET /api/v4/rooms/list',
        text: 'List the rooms of the project.',
        address: '/docs/v4#/default/list',
      },
    ]);
  });
});

describe('the search', () => {
  const search = searchIn(
    searchIndex([
      ...guideEntries('webhooks', 'Webhooks', renderGuide(guide)),
      ...guideEntries('errors', 'Errors', renderGuide(errors, { rowAnchors: true })),
      ...operationEntries('v4', 'Version 4', operations(description)),
    ]),
  );
  test.each([
    { name: 'a heading', query: 'retries', want: '/docs/webhooks#retries' },
    { name: 'the beginning of a word', query: 'intro', want: '/docs/webhooks' },
    { name: 'a word with a mistake', query: 'introducton', want: '/docs/webhooks' },
    { name: 'the code of an error', query: 'SVC_UNAUTHORIZED', want: '/docs/errors#svc_unauthorized' },
    { name: 'an operation', query: 'end_room', want: '/docs/v4#/companion/endRoom' },
    { name: 'one of the words, if no entry has all', query: 'clock nothing', want: '/docs/errors#svc_unauthorized' },
  ])('finds $name', ({ query, want }) => {
    expect(search(query)[0]?.address).toBe(want);
  });

  test('finds nothing in code, and no unknown word', () => {
    expect(search('secret')).toEqual([]);
    expect(search('zebra')).toEqual([]);
  });
});
