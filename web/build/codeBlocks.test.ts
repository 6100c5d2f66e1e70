import { Marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { type CodeGroup, groupCodeBlocks, renderCodeGroup } from './codeBlocks.ts';

const block = (info: string, code = 'x'): string => `\`\`\`${info}\n${code}\n\`\`\`\n`;
const groups = (markdown: string): CodeGroup[] =>
  groupCodeBlocks(new Marked().lexer(markdown)).filter(({ type }) => type === 'codeGroup') as CodeGroup[];
const labels = (markdown: string): string[][] => groups(markdown).map(({ blocks }) => blocks.map(({ label }) => label));
const render = (markdown: string): string =>
  groups(markdown)
    .map((group, i) => renderCodeGroup(group, `code-${i}`))
    .join('');

describe('code blocks form a group', () => {
  test.each([
    { name: 'directly after each other', markdown: block('sh') + block('go'), want: [['curl', 'Go']] },
    { name: 'with blank lines between', markdown: `${block('sh')}\n\n\n${block('php')}`, want: [['curl', 'PHP']] },
    { name: 'without text between', markdown: `${block('sh')}\nOr:\n\n${block('php')}`, want: [['curl'], ['PHP']] },
    {
      name: 'until a label is there already',
      markdown: ['ts', 'go', 'ts', 'go'].map((x) => block(x)).join('\n'),
      want: [
        ['TypeScript', 'Go'],
        ['TypeScript', 'Go'],
      ],
    },
    {
      name: 'with the labels of their titles',
      markdown: block('sh title="npm"') + block('sh title="Python 3"'),
      want: [['npm', 'Python 3']],
    },
  ])('$name', ({ markdown, want }) => {
    expect(labels(markdown)).toEqual(want);
  });

  test('inside a list', () => {
    const item = `1. First:\n\n${(block('sh') + block('python')).replace(/^/gm, '   ')}`;
    const [list] = groupCodeBlocks(new Marked().lexer(item));
    expect(JSON.stringify(list)).toContain('"label":"Python"');
    expect(JSON.stringify(list)).toContain('codeGroup');
  });

  test('and not in an unknown language', () => {
    expect(() => labels(block('cobol'))).toThrow('there is no language cobol');
  });
});

describe('the HTML of code', () => {
  test('has tabs for a group, of which the first is selected', () => {
    const html = render(block('sh') + block('python'));
    expect(html.match(/role="tab"/g)).toHaveLength(2);
    expect(html).toContain('id="code-0-tab-0" aria-controls="code-0-0" aria-selected="true">curl<');
    expect(html).toContain('id="code-0-tab-1" aria-controls="code-0-1" aria-selected="false" tabindex="-1">Python<');
    expect(html).toContain('role="tabpanel" id="code-0-1" aria-labelledby="code-0-tab-1"');
  });

  test('has no tabs for a single block, and calls a shell by its name', () => {
    const html = render(block('sh'));
    expect(html).not.toContain('role=');
    expect(html).toContain('<p class="label">Shell</p>');
  });

  test('is colored with classes and without inline styles', () => {
    const samples = {
      sh: 'echo "a"',
      ts: 'const a = 1;',
      js: 'const a = 1;',
      python: 'a = "b"',
      php: '<?php return "a";',
      go: 'return "a"',
      json: '{"a": 1}',
      yaml: 'a: 1',
      html: '<p class="b"></p>',
      http: 'GET / HTTP/1.1',
    };
    for (const [language, code] of Object.entries(samples)) {
      const html = render(block(language, code));
      expect(html, language).toContain('<span class="hljs-');
      expect(html, language).not.toContain('style=');
    }
  });

  test('is escaped', () => {
    expect(render(block('text', '<b>&</b>'))).toContain('<code>&lt;b&gt;&amp;&lt;/b&gt;</code>');
  });
});

describe('placeholders in code', () => {
  test('become elements, also in a string', () => {
    const html = render(block('json', '{"url": "{{base_url}}/docs", "project_id": "{{project_id}}"}'));
    expect(html).toContain('<span class="value" data-value="base_url">https://meet.example.org</span>/docs');
    expect(html).toContain('<span class="value" data-value="project_id">{{project_id}}</span>');
  });

  test('must be known', () => {
    expect(() => render(block('sh', 'export KEY={{gateway_secret}}'))).toThrow('there is no placeholder');
  });
});
