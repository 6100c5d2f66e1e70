import { Marked } from 'marked';

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');

/** Returns the address under /docs that a link between files of the repository leads to. */
function address(href: string): string {
  if (href.endsWith('/vectors.json')) return '/docs/vectors.json';
  return href.replace(/^(?:\.\/)?([a-z0-9]+)\.md/, (_, name: string) => (name === 'index' ? '/docs' : `/docs/${name}`));
}

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      return `<a href="${address(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
  },
  hooks: {
    // Wide code and tables scroll on their own. The tabindex makes that possible with the keyboard.
    postprocess: (html) =>
      html
        .replaceAll('<pre>', '<pre tabindex="0">')
        .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
        .replaceAll('</table>', '</table></div>'),
  },
});

/** Renders a guide as the content of a page. */
export function guide(markdown: string): string {
  return marked.parse(markdown, { async: false });
}
