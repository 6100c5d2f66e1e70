import { describe, expect, test } from 'vitest';
import { renderGuide } from './markdown.ts';

const errors = `# Errors

| Status | Sentence | What to do |
|---|---|---|
| 404 | \`there is no such room\` | check it |
| 404 | \`there is no such room\` | check it again |

## Mistakes \`here\`

| Mistake | What to do |
|---|---|
| a | send \`b\` |
`;

describe('a guide', () => {
  test('has headings with anchors and links to them', () => {
    const { html, headings } = renderGuide(errors);
    expect(headings).toEqual([
      { depth: 1, id: 'errors', text: 'Errors' },
      { depth: 2, id: 'mistakes-here', text: 'Mistakes here' },
    ]);
    expect(html).toContain('<h2 id="mistakes-here">Mistakes <code>here</code></h2>');
    expect(html).toContain('<a class="anchor" href="#mistakes-here" aria-label="Link to Mistakes here">');
  });

  test('has anchors for the rows that begin with an error, if it should', () => {
    expect(renderGuide(errors).html).not.toContain('<tr id=');
    const ids = [...renderGuide(errors, { rowAnchors: true }).html.matchAll(/<tr id="(.*?)">/g)].map(([, id]) => id);
    expect(ids).toEqual(['there-is-no-such-room', 'there-is-no-such-room-1']);
  });

  test('shows placeholders in text, too', () => {
    expect(renderGuide('Open `{{base_url}}/docs`.').html).toContain('<code><span class="value" data-value="base_url">');
  });
});
