import type { Token, Tokens } from 'marked';

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

/** Returns the text of inline Markdown without its marks. */
export function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      return 'text' in token ? String(token.text) : '';
    })
    .join('');
}

/** Returns the anchor that GitHub makes from the text of a heading, before it numbers duplicates. */
export function slug(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Makes the anchors of one page, which are unique there. */
export class Anchors {
  private readonly used = new Set<string>();

  add(text: string): string {
    const anchor = slug(text);
    let unique = anchor;
    for (let n = 1; this.used.has(unique); n++) unique = `${anchor}-${n}`;
    this.used.add(unique);
    return unique;
  }
}

export const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
