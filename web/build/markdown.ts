import { Marked, type Token, type Tokens } from 'marked';
import { type CodeGroup, escapeHTML, groupCodeBlocks, renderCodeGroup } from './codeBlocks.ts';
import { linkAddress } from './documentLinks.ts';
import { Anchors, type Heading, isHeading, plainText } from './headings.ts';
import { markPlaceholders, renderPlaceholders } from './placeholders.ts';

export interface Guide {
  html: string;
  headings: Heading[];
  tokens: Token[];
  /** The anchors of headings and, in a page with rowAnchors, of the rows of tables. */
  anchors: Map<Token | Tokens.TableCell[], string>;
}

/** The longest anchor of a row, in characters. */
const maxRowAnchor = 60;

/** Renders a guide. With rowAnchors, each row of a table has an anchor if its second cell begins with code. */
export function renderGuide(markdown: string, { rowAnchors = false } = {}): Guide {
  const marked = new Marked();
  const tokens = groupCodeBlocks(marked.lexer(markdown));
  const unique = new Anchors();
  const anchors: Guide['anchors'] = new Map();
  const headings: Heading[] = [];
  for (const token of tokens) {
    if (!isHeading(token)) continue;
    const text = plainText(token.tokens);
    const id = unique.add(text);
    anchors.set(token, id);
    headings.push({ depth: token.depth, id, text });
  }
  for (const table of rowAnchors ? tokens.filter((token) => token.type === 'table') : []) {
    for (const row of (table as Tokens.Table).rows) {
      const code = row[1]?.tokens[0];
      if (code?.type === 'codespan') anchors.set(row, unique.add(plainText([code]).slice(0, maxRowAnchor)));
    }
  }
  let groups = 0;
  marked.use({
    extensions: [{ name: 'codeGroup', renderer: (token) => renderCodeGroup(token as CodeGroup, `code-${++groups}`) }],
    renderer: {
      heading(token) {
        const { depth, tokens } = token;
        const content = this.parser.parseInline(tokens);
        const id = anchors.get(token);
        if (!id) throw new Error(`the heading "${token.text}" is inside a list or has no letters`);
        if (depth === 1) return `<h1 id="${id}">${content}</h1>\n`;
        // Beside the heading, because it would be a part of the heading's name inside it.
        const link = `<a class="anchor" href="#${id}" aria-label="Link to ${escapeHTML(plainText(tokens))}">#</a>`;
        return `<div class="heading"><h${depth} id="${id}">${content}</h${depth}>${link}</div>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${linkAddress(href, 'page')}">${this.parser.parseInline(tokens)}</a>`;
      },
      codespan({ text }) {
        return `<code>${renderPlaceholders(escapeHTML(markPlaceholders(text)))}</code>`;
      },
      table({ header, rows }) {
        const cell = (name: string, content: string) => `<${name}>${content}</${name}>`;
        const cells = (row: Tokens.TableCell[], name: string) =>
          // A header without text names nothing.
          row.map(({ text, tokens }) => cell(text ? name : 'td', this.parser.parseInline(tokens))).join('');
        const body = rows.map((row) => {
          const id = anchors.get(row);
          return `<tr${id ? ` id="${id}"` : ''}>${cells(row, 'td')}</tr>`;
        });
        return (
          `<div class="table" tabindex="0"><table>\n<thead><tr>${cells(header, 'th')}</tr></thead>\n` +
          `<tbody>\n${body.join('\n')}\n</tbody></table></div>\n`
        );
      },
    },
  });
  return { html: marked.parser(tokens), headings, tokens, anchors };
}
