import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { parse } from 'yaml';
import { changelogGuide } from './changelog.ts';
import { EntryTags } from './docsEntries.ts';
import { landingPage } from './docsLanding.ts';
import { type PageParts, renderPage } from './docsPage.ts';
import type { DocsGroup, DocsPage } from './docsPages.ts';
import { llmsText, servedMarkdown } from './llms.ts';
import { renderGuide } from './markdown.ts';
import { operations } from './operations.ts';
import { postmanCollection } from './postman.ts';
import { type Entry, guideEntries, operationEntries, searchIndex } from './searchIndex.ts';

const repository = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(resolve(repository, path), 'utf8');

/** The pages in the order of the sidebar: guides in docs/api, and a reference page for each API description. */
const groups: DocsGroup[] = [
  {
    title: 'Start',
    pages: [
      { name: 'index', title: 'Overview', summary: 'The versions of the API, its credentials and its extensions.' },
      { name: 'quickstart', title: 'Quick start', summary: 'Create a room and open it in a browser in a few minutes.' },
      { name: 'sdks', title: 'SDKs', summary: 'Clients for TypeScript, Python, PHP and Go.' },
      { name: 'signing', title: 'Signing', summary: 'The signatures of requests and webhooks, with test vectors.' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      { name: 'concepts', title: 'Concepts', summary: 'The words of this documentation, and the life of a room.' },
      { name: 'recipes', title: 'Recipes', summary: 'Short programs for what a backend does, from scheduling to catching up.' },
      { name: 'meetings', title: 'Meetings', summary: 'Run a meeting from a backend, from links to attendance.' },
      { name: 'webhooks', title: 'Webhooks', summary: 'Receive and verify events, and catch up after an outage.' },
      { name: 'testing', title: 'Testing', summary: 'Test projects, and meetings that are simulated for your tests.' },
      { name: 'embedding', title: 'Embedding', summary: 'Show a room in your page with a web component.' },
      { name: 'examples', title: 'Examples', summary: 'Complete programs that sign requests, in several languages.' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      {
        name: 'v3',
        title: 'Version 3',
        summary: 'API description: create audio and video rooms.',
        description: '/api/v3/openapi.yaml',
      },
      {
        name: 'v4',
        title: 'Version 4',
        summary: 'API description: create video rooms with more settings, and run meetings.',
        description: '/api/v4/openapi.yaml',
      },
      {
        name: 'v5',
        title: 'Version 5',
        summary: 'API description: read keys, usage, limits and recent calls.',
        description: '/api/v5/openapi.json',
      },
      { name: 'errors', title: 'Errors', summary: 'Every error, its cause and its remedy.' },
      { name: 'versions', title: 'Versions', summary: 'What may change within a version, and how a version ends.' },
      { name: 'changelog', title: 'Changelog', summary: 'What has changed, for integrators, operators and people in meetings.' },
      { name: 'migrating', title: 'Migrating', summary: 'Move from another server of this API family.' },
    ],
  },
];

/**
 * Writes a page for every guide and every API description, their Markdown and OpenAPI, the search index, the
 * Postman collection, and the test vectors.
 */
export function docs(): Plugin {
  return {
    name: 'docs',
    apply: 'build',
    generateBundle(_, bundle) {
      const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
      const tags = new EntryTags(bundle);
      const guideScript = tags.script('guide', { blocking: true });
      const entries: Entry[] = [];
      const pages: [DocsPage, PageParts][] = [];
      const descriptions: string[] = [];
      for (const page of groups.flatMap(({ pages }) => pages)) {
        const { name, title, description } = page;
        if (description) {
          const yaml = read(`internal/api/${name}/openapi.yaml`);
          descriptions.push(yaml);
          emit(`openapi/${name}.yaml`, yaml);
          emit(`openapi/${name}.json`, JSON.stringify(parse(yaml), null, 2));
          entries.push(...operationEntries(name, title, operations(yaml)));
          const head = tags.styles('guide', 'viewer') + tags.theme() + guideScript + tags.script('viewer');
          // No <main>, because the viewer brings its own.
          const html = `<div id="reference" data-description="${description}"></div>`;
          pages.push([page, { head, html, headings: [] }]);
          continue;
        }
        const markdown = name === 'changelog' ? changelogGuide(read('CHANGELOG.md')) : read(`docs/api/${name}.md`);
        try {
          const guide = renderGuide(markdown, { rowAnchors: name === 'errors' });
          // The long lists of changes would be found for every word.
          if (name !== 'changelog') entries.push(...guideEntries(name, title, guide));
          emit(`${name}.md`, servedMarkdown(markdown));
          pages.push([page, { ...guide, head: tags.styles('guide') + tags.theme() + guideScript }]);
        } catch (error) {
          throw new Error(`the page ${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
        }
      }
      const index = this.emitFile({ type: 'asset', name: 'search.json', source: searchIndex(entries) });
      const indexAddress = `/docs/${this.getFileName(index)}`;
      for (const [page, parts] of pages) emit(`${page.name}.html`, renderPage(groups, page, parts, indexAddress));
      emit('landing.html', landingPage(tags.styles('guide') + tags.theme()));
      emit('llms.txt', llmsText(groups));
      emit('parley.postman_collection.json', postmanCollection(descriptions));
      emit('vectors.json', read('sdk/testdata/vectors.json'));
    },
  };
}
