import type { DocsGroup } from './docsPages.ts';
import { linkAddress } from './documentLinks.ts';
import { fillBaseURL } from './placeholders.ts';

/** Returns the Markdown of a guide with links that work on a server. */
export function servedMarkdown(markdown: string): string {
  // The odd parts are code blocks.
  const parts = markdown.split(/^(```.*?^```)$/ms);
  const link = /\]\(([^()\s]+)\)/g;
  const rewrite = (_: string, href: string) => `](${linkAddress(href, 'markdown')})`;
  return fillBaseURL(parts.map((part, i) => (i % 2 ? part : part.replace(link, rewrite))).join(''));
}

/** Returns the index of the documentation for language models, in the form of llmstxt.org. */
export function llmsText(groups: DocsGroup[]): string {
  const sections = groups.map(({ title, pages }) => {
    const lines = pages.map((page) => {
      const address = page.description ?? `/docs/${page.name}.md`;
      return `- [${page.title}](${address}): ${page.summary}`;
    });
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const descriptions = groups.flatMap(({ pages }) => pages).filter(({ description }) => description);
  const downloads = descriptions.map(({ name, title }) => {
    const address = `/docs/openapi/${name}`;
    return `- [${title} as OpenAPI](${address}.yaml): For code generators, also [as JSON](${address}.json).\n`;
  });
  return `# Parley API

> Parley is a server for video and audio meetings. A backend creates rooms and links with signed HTTP
> requests, and people join with a link in their browser.

The addresses below are paths on this server. In examples, https://meet.example.org stands for its address.
Credentials belong on a backend and never in a browser.

${sections.join('\n')}
## Optional

${downloads.join('')}- [Postman collection](/docs/parley.postman_collection.json): Every operation, signed by a script.
- [Test vectors](/docs/vectors.json): Valid and invalid signatures with their inputs.
`;
}
