import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { guide } from './markdown.ts';

const repository = resolve(import.meta.dirname, '../..');

/** The guides in docs/api, in the order of the navigation bar. */
const guides = [
  { name: 'index', title: 'Start' },
  { name: 'quickstart', title: 'Quick start' },
  { name: 'sdks', title: 'SDKs' },
  { name: 'signing', title: 'Signing' },
  { name: 'examples', title: 'Examples' },
  { name: 'meetings', title: 'Meetings' },
  { name: 'embedding', title: 'Embedding' },
  { name: 'webhooks', title: 'Webhooks' },
  { name: 'errors', title: 'Errors' },
  { name: 'versions', title: 'Versions' },
  { name: 'migrating', title: 'Migrating' },
];

/** The reference pages, each with the address of the API description that it loads. */
const references = [
  { name: 'v3', title: 'Version 3', description: '/api/v3/openapi.yaml' },
  { name: 'v4', title: 'Version 4', description: '/api/v4/openapi.yaml' },
  { name: 'v5', title: 'Version 5', description: '/api/v5/openapi.json' },
];

const address = (name: string) => (name === 'index' ? '/docs' : `/docs/${name}`);

/** Writes one page for every guide and every API description, and the test vectors. */
export function docs(): Plugin {
  return {
    name: 'docs',
    apply: 'build',
    generateBundle(_, bundle) {
      const headFor = (entry: string) => head(bundle, entry);
      const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
      for (const { name, title } of guides) {
        const markdown = readFileSync(resolve(repository, `docs/api/${name}.md`), 'utf8');
        emit(`${name}.html`, page(name, title, headFor('guide'), `<main class="guide">\n${guide(markdown)}</main>`));
      }
      for (const { name, title, description } of references) {
        // No <main>, because the viewer brings its own.
        emit(`${name}.html`, page(name, title, headFor('viewer'), `<div id="reference" data-description="${description}"></div>`));
      }
      emit('landing.html', landing(headFor('guide')));
      emit('vectors.json', readFileSync(resolve(repository, 'sdk/testdata/vectors.json'), 'utf8'));
    },
  };
}

/** Returns the tags for the styles and the script of an entry, including shared styles. */
function head(bundle: Rolldown.OutputBundle, entry: string): string {
  const tags = new Set<string>();
  const visit = (chunk: Rolldown.OutputChunk) => {
    for (const name of chunk.imports) {
      const imported = bundle[name];
      if (imported?.type === 'chunk') visit(imported);
    }
    for (const style of chunk.viteMetadata?.importedCss ?? []) tags.add(`<link rel="stylesheet" href="/docs/${style}">`);
  };
  for (const chunk of Object.values(bundle)) {
    if (chunk.type !== 'chunk' || !chunk.isEntry || chunk.name !== entry) continue;
    visit(chunk);
    if (entry === 'viewer') tags.add(`<script type="module" src="/docs/${chunk.fileName}"></script>`);
  }
  return [...tags].join('\n');
}

/** Returns the page at the address of a server itself. The server replaces the comment in it. */
function landing(head: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="icon" href="/favicon.svg">
${head}
</head>
<body>
<main class="guide landing">
<h1>Parley</h1>
<p>This server runs video and audio meetings. People join in their browser with a link, without an account or an app.</p>
<!-- health -->
<h2>If you were invited to a meeting</h2>
<p>Open the link that you received. It has <code>/r/</code> after the address of this server. If you typed it, please compare it with the invitation, or ask for it again.</p>
<h2>If you want to create rooms</h2>
<ul>
<li><a href="/docs">Documentation of the API</a>: the first call in a few minutes</li>
<li><a href="/docs/examples">Examples</a> in Go, JavaScript, Python and for the shell</li>
<li><a href="/docs/v4">Reference of version 4</a>, and of <a href="/docs/v3">3</a> and <a href="/docs/v5">5</a></li>
</ul>
<h2>If you run this server</h2>
<p>The <a href="/console">console</a> shows rooms, API calls, webhooks and usage, also to integrators. Run <code>parley --help</code> on the machine. <a href="/healthz">/healthz</a> says which parts work, and <code>/metrics</code> has figures for Prometheus.</p>
</main>
</body>
</html>
`;
}

function page(name: string, title: string, head: string, main: string): string {
  const links = [...guides, ...references].map((other) => {
    const current = other.name === name ? ' aria-current="page"' : '';
    return `<li><a href="${address(other.name)}"${current}>${other.title}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Parley API</title>
<link rel="icon" href="/favicon.svg">
${head}
</head>
<body>
<nav class="bar" aria-label="Documentation"><ul>
${links.join('\n')}
</ul></nav>
${main}
</body>
</html>
`;
}
