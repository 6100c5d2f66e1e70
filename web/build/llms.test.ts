import { expect, test } from 'vitest';
import { llmsText, servedMarkdown } from './llms.ts';

test('the Markdown of a page has links that work on a server, and an address in its examples', () => {
  const markdown = `See [signing](signing.md#version-5) and [vectors](../../sdk/testdata/vectors.json).

\`\`\`ts
const f = routes[0](request.md); // {{base_url}}, {{project_id}}
\`\`\`
`;
  expect(servedMarkdown(markdown)).toBe(`See [signing](/docs/signing.md#version-5) and [vectors](/docs/vectors.json).

\`\`\`ts
const f = routes[0](request.md); // https://meet.example.org, {{project_id}}
\`\`\`
`);
});

test('the index for language models has the form of llmstxt.org', () => {
  const text = llmsText([
    { title: 'Start', pages: [{ name: 'index', title: 'Overview', summary: 'All.' }] },
    { title: 'Reference', pages: [{ name: 'v4', title: 'Version 4', summary: 'Rooms.', description: '/api/v4' }] },
  ]);
  expect(text).toMatch(/^# Parley API\n\n> \S/);
  expect(text).toContain('## Start\n\n- [Overview](/docs/index.md): All.\n');
  expect(text).toContain('## Reference\n\n- [Version 4](/api/v4): Rooms.\n');
  expect(text).toContain('](/docs/openapi/v4.yaml)');
  expect(text).toContain('](/docs/openapi/v4.json)');
});
