import { escapeHTML } from './codeBlocks.ts';
import type { DocsGroup, DocsPage } from './docsPages.ts';
import { pageAddress } from './documentLinks.ts';
import type { Heading } from './headings.ts';

export interface PageParts {
  /** The tags of its styles and scripts. */
  head: string;
  html: string;
  headings: Heading[];
}

/** Returns a page. indexAddress is the address of the search index. */
export function renderPage(groups: DocsGroup[], page: DocsPage, parts: PageParts, indexAddress: string): string {
  const isGuide = !page.description;
  const markdown = `/docs/${page.name}.md`;
  const alternate = isGuide ? `<link rel="alternate" type="text/markdown" href="${markdown}">\n` : '';
  const contents = contentsOf(parts.headings);
  const group = groups.find(({ pages }) => pages.includes(page))?.title ?? '';
  const source = `<p class="above"><span>${group}</span><a href="${markdown}">View as Markdown</a></p>\n`;
  const files = isGuide ? '' : downloads(group, page.name);
  const content = isGuide
    ? `<main class="guide" id="page-content" tabindex="-1">\n${source}${parts.html}${pager(groups, page)}</main>`
    : `<div class="viewer" id="page-content" tabindex="-1">\n${files}${parts.html}\n${pager(groups, page)}</div>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} · Parley API</title>
<meta name="description" content="${escapeHTML(page.summary)}">
<link rel="icon" href="/favicon.svg">
${alternate}${parts.head}</head>
<body>
<a class="skip" href="#page-content">Skip to the content</a>
${header(indexAddress)}
<div class="frame${contents ? ' with-contents' : ''}">
<nav class="menu" aria-label="Documentation">
<button type="button" class="disclosure" aria-expanded="false" aria-controls="page-menu">Menu</button>
<div class="panel" id="page-menu">
${sidebar(groups, page)}
${isGuide ? readerForm : ''}</div>
</nav>
${contents}${content}
</div>
</body>
</html>
`;
}

/** Returns the links to the two forms of an API description, which are outside the <main> of the viewer. */
function downloads(group: string, name: string): string {
  const link = (form: string) => `<a href="/docs/openapi/${name}.${form}">${form.toUpperCase()}</a>`;
  const links = `Download: ${link('yaml')} · ${link('json')}`;
  return `<nav class="above" aria-label="Download"><span>${group}</span><span>${links}</span></nav>\n`;
}

/** The field for the search and the switch of themes. They need a script, and are hidden without one. */
function header(indexAddress: string): string {
  return `<header class="top">
<a class="brand" href="/docs">Parley <span>API</span></a>
<div class="search" role="search" data-index="${indexAddress}">
<input type="search" role="combobox" aria-label="Search the documentation" placeholder="Search"
 aria-expanded="false" aria-controls="page-results" aria-autocomplete="list"
 autocomplete="off" spellcheck="false" enterkeyhint="go">
<kbd aria-hidden="true">Ctrl K</kbd>
<div class="results" hidden>
<div role="listbox" id="page-results" aria-label="Results"></div>
<p class="message"></p>
</div>
<p class="sr-only" role="status"></p>
</div>
<label class="theme">
<svg aria-hidden="true" viewBox="0 0 24 24" width="20" height="20">
<circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" stroke-width="2"/>
<path d="M12 4v16a8 8 0 0 0 0-16z" fill="currentColor"/>
</svg>
<select aria-label="Theme">
<option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option>
</select>
</label>
</header>`;
}

function sidebar(groups: DocsGroup[], current: DocsPage): string {
  const lists = groups.map(({ title, pages }, i) => {
    const links = pages.map((page) => {
      const state = page === current ? ' aria-current="page"' : '';
      return `<li><a href="${pageAddress(page.name)}"${state}>${page.title}</a></li>`;
    });
    const id = `page-group-${i}`;
    return `<p class="group" id="${id}">${title}</p>\n<ul aria-labelledby="${id}">\n${links.join('\n')}\n</ul>`;
  });
  return lists.join('\n');
}

/** Where readers enter what the examples show instead of placeholders. */
const readerForm = `<form class="reader" aria-labelledby="page-reader" novalidate>
<p class="group" id="page-reader">Your project</p>
<p>The examples on all pages show these values. Stored only in this browser. Never paste a secret here.</p>
<label>Project ID<input name="project_id" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<label>API key<input name="api_key" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<p class="wrong" role="alert" id="page-wrong"></p>
<div class="buttons"><button type="submit">Save</button><button type="button" name="clear">Clear</button></div>
<p class="saved" role="status"></p>
</form>
`;

/** Returns the table of contents, which is empty for a page with less than two sections. */
function contentsOf(headings: Heading[]): string {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length < 2) return '';
  const link = ({ id, text }: Heading) => `<a href="#${id}">${escapeHTML(text)}</a>`;
  const links = listed.map((heading) => `<li class="depth-${heading.depth}">${link(heading)}</li>`);
  return `<nav class="contents" aria-label="On this page">
<button type="button" class="disclosure" aria-expanded="false" aria-controls="page-contents">On this page</button>
<div class="panel" id="page-contents">
<p class="group">On this page</p>
<ul>
${links.join('\n')}
</ul>
</div>
</nav>
`;
}

function pager(groups: DocsGroup[], current: DocsPage): string {
  const pages = groups.flatMap(({ pages }) => pages);
  const at = pages.indexOf(current);
  const link = (page: DocsPage | undefined, relation: string, label: string) =>
    page ? `<a rel="${relation}" href="${pageAddress(page.name)}"><span>${label}</span>${page.title}</a>\n` : '';
  return `<nav class="pager" aria-label="Previous and next page">
${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>
`;
}
