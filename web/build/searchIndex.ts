import type { Token, Tokens } from 'marked';
import MiniSearch from 'minisearch';
import { type SearchEntry, searchOptions } from '../docs/searchOptions.ts';
import { pageAddress } from './documentLinks.ts';
import { isHeading, plainText } from './headings.ts';
import type { Guide } from './markdown.ts';
import type { Operation } from './operations.ts';

export type Entry = Omit<SearchEntry, 'id'>;

const rowText = (row: Tokens.TableCell[]): string => row.map(({ tokens }) => plainText(tokens)).join(' · ');

/** Returns the text of blocks of Markdown, without code blocks. */
function blockText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') return (token as Tokens.Table).rows.map(rowText).join('. ');
      if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => blockText(tokens)).join(' ');
      if (token.type === 'paragraph' || token.type === 'text') return plainText([token]);
      return token.type === 'blockquote' ? blockText(token.tokens ?? []) : '';
    })
    .filter(Boolean)
    .join(' ')
    .replace(/\s+/g, ' ');
}

/** Returns an entry for each section of a guide, and one for each row that has an anchor. */
export function guideEntries(name: string, title: string, { tokens, anchors }: Guide): Entry[] {
  const entries: Entry[] = [];
  const page = pageAddress(name);
  let section: Token[] = [];
  let heading = { text: title, address: page };
  const endSection = () => {
    entries.push({ page: title, heading: heading.text, text: blockText(section), address: heading.address });
    section = [];
  };
  for (const token of tokens) {
    if (isHeading(token)) {
      if (token.depth > 1) endSection();
      const text = plainText(token.tokens);
      heading = { text, address: token.depth > 1 ? `${page}#${anchors.get(token)}` : page };
      continue;
    }
    const rows = token.type === 'table' ? (token as Tokens.Table).rows : [];
    const anchored = rows.filter((row) => anchors.has(row));
    for (const row of anchored) {
      const [first, second, ...rest] = row;
      entries.push({
        page: title,
        heading: rowText([first, second].filter((cell) => cell !== undefined)),
        text: rowText(rest),
        address: `${page}#${anchors.get(row)}`,
      });
    }
    if (anchored.length === 0) section.push(token);
  }
  endSection();
  return entries;
}

/** Returns an entry for each operation of an API description. */
export function operationEntries(name: string, title: string, operations: Operation[]): Entry[] {
  return operations.map(({ method, path, summary, description, anchor }) => ({
    page: `Reference, ${title.toLowerCase()}`,
    heading: `${method} ${path}`,
    text: [summary, description].filter(Boolean).join('. '),
    address: `/docs/${name}${anchor}`,
  }));
}

/** Returns the index of all entries as JSON. */
export function searchIndex(entries: Entry[]): string {
  const index = new MiniSearch(searchOptions);
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return JSON.stringify(index);
}
