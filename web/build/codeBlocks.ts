// highlight.js colors code when the pages are built, with classes, so that they need no script and no inline styles.
import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import type { Token, Tokens } from 'marked';
import { markPlaceholders, renderPlaceholders } from './placeholders.ts';

/** The languages of code blocks by the first word of their info string. */
const languages: Record<string, { label: string; grammar?: LanguageFn }> = {
  sh: { label: 'curl', grammar: bash },
  ts: { label: 'TypeScript', grammar: typescript },
  js: { label: 'JavaScript', grammar: javascript },
  mjs: { label: 'JavaScript', grammar: javascript },
  python: { label: 'Python', grammar: python },
  php: { label: 'PHP', grammar: php },
  go: { label: 'Go', grammar: go },
  json: { label: 'JSON', grammar: json },
  yaml: { label: 'YAML', grammar: yaml },
  html: { label: 'HTML', grammar: xml },
  http: { label: 'HTTP', grammar: http },
  text: { label: 'Text' },
};

for (const [name, { grammar }] of Object.entries(languages)) {
  if (grammar) hljs.registerLanguage(name, grammar);
}
// The grammar of HTML colors the scripts in it, and needs this name for them.
hljs.registerLanguage('javascript', javascript);

/** One or more code blocks that follow each other directly. Two or more are shown in tabs. */
export interface CodeGroup {
  type: 'codeGroup';
  raw: string;
  blocks: CodeBlock[];
}

interface CodeBlock {
  language: string;
  label: string;
  code: string;
}

function codeBlock({ lang = '', text }: Tokens.Code): CodeBlock {
  const [, language = '', rest = ''] = /^(\S*)(.*)$/.exec(lang) ?? [];
  const name = language || 'text';
  const known = languages[name];
  if (!known) throw new Error(`there is no language ${name}, use one of ${Object.keys(languages).join(', ')}`);
  return { language: name, label: /\btitle="([^"]+)"/.exec(rest)?.[1] ?? known.label, code: text };
}

/**
 * Returns the tokens with code blocks in groups, also those inside lists and quotations. A label that the group
 * has already begins the next group.
 */
export function groupCodeBlocks(tokens: Token[]): Token[] {
  const grouped: Token[] = [];
  for (const token of tokens) {
    const last = grouped.findLast(({ type }) => type !== 'space');
    if (token.type === 'code') {
      const block = codeBlock(token as Tokens.Code);
      const blocks = last?.type === 'codeGroup' ? (last as CodeGroup).blocks : null;
      if (blocks?.every(({ label }) => label !== block.label)) blocks.push(block);
      else grouped.push({ type: 'codeGroup', raw: token.raw, blocks: [block] } satisfies CodeGroup);
      continue;
    }
    if (token.type === 'list') {
      for (const item of (token as Tokens.List).items) item.tokens = groupCodeBlocks(item.tokens);
    } else if (token.type === 'blockquote') {
      token.tokens = groupCodeBlocks(token.tokens ?? []);
    }
    grouped.push(token);
  }
  return grouped;
}

export function escapeHTML(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function highlight({ language, code }: CodeBlock): string {
  const text = markPlaceholders(code);
  const html = languages[language]?.grammar ? hljs.highlight(text, { language }).value : escapeHTML(text);
  return renderPlaceholders(html);
}

/** Renders a group. Its prefix makes the identifiers of its elements unique in the page. */
export function renderCodeGroup({ blocks }: CodeGroup, prefix: string): string {
  // Wide code scrolls on its own. The tabindex makes that possible with the keyboard.
  const content = (block: CodeBlock, label: string) =>
    `<p class="label">${escapeHTML(label)}</p><pre tabindex="0"><code>${highlight(block)}</code></pre>`;
  const [only] = blocks;
  if (only && blocks.length === 1) {
    // A shell script is the alternative to a program that uses curl only beside other languages.
    return `<div class="code">${content(only, only.label === 'curl' ? 'Shell' : only.label)}</div>\n`;
  }
  const labels = blocks.map(({ label }) => label);
  const tabs = labels.map((label, i) => {
    const panel = `id="${prefix}-tab-${i}" aria-controls="${prefix}-${i}"`;
    const state = i === 0 ? 'aria-selected="true"' : 'aria-selected="false" tabindex="-1"';
    return `<button type="button" role="tab" ${panel} ${state}>${escapeHTML(label)}</button>`;
  });
  const panels = blocks.map((block, i) => {
    const panel = `role="tabpanel" id="${prefix}-${i}" aria-labelledby="${prefix}-tab-${i}"`;
    return `<div class="code" ${panel}>${content(block, block.label)}</div>`;
  });
  const list = `<div role="tablist" aria-label="Language">${tabs.join('')}</div>`;
  return `<div class="tabs">\n${list}\n${panels.join('\n')}\n</div>\n`;
}
