const guideLink = /^(?:\.\/)?([a-z0-9]+)\.md(#.*)?$/;
const descriptionLink = /\/internal\/api\/(v\d+)\/openapi\.yaml$/;

/**
 * Returns the address on a server of what a link in a guide leads to: of a page, or, in the Markdown that
 * the server offers, of the Markdown or the API description that the page shows.
 */
export function linkAddress(href: string, form: 'page' | 'markdown'): string {
  if (/^#|^\/(?!\/)/.test(href)) return href;
  if (href.endsWith('/vectors.json')) return '/docs/vectors.json';
  // The program that makes it.
  if (href.endsWith('/web/build/postman.ts')) return '/docs/parley.postman_collection.json';
  if (href.endsWith('/CHANGELOG.md')) return form === 'page' ? '/docs/changelog' : '/docs/changelog.md';
  const description = descriptionLink.exec(href)?.[1];
  if (description && form === 'page') return `/docs/${description}`;
  if (description) return `/api/${description}/openapi.${description === 'v5' ? 'json' : 'yaml'}`;
  const [, name, anchor = ''] = guideLink.exec(href) ?? [];
  if (!name) throw new Error(`a guide links to ${href}, which no server has: link to guides and descriptions only`);
  return (form === 'page' ? pageAddress(name) : `/docs/${name}.md`) + anchor;
}

/** Returns the address of a page. */
export const pageAddress = (name: string): string => (name === 'index' ? '/docs' : `/docs/${name}`);
