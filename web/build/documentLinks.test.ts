import { describe, expect, test } from 'vitest';
import { linkAddress } from './documentLinks.ts';

describe('a link of a guide leads to a server', () => {
  test.each([
    { href: '#verify', page: '#verify', markdown: '#verify' },
    { href: 'index.md', page: '/docs', markdown: '/docs/index.md' },
    { href: './signing.md#vectors', page: '/docs/signing#vectors', markdown: '/docs/signing.md#vectors' },
    { href: '../../sdk/testdata/vectors.json', page: '/docs/vectors.json', markdown: '/docs/vectors.json' },
    {
      href: '../../web/build/postman.ts',
      page: '/docs/parley.postman_collection.json',
      markdown: '/docs/parley.postman_collection.json',
    },
    { href: '../../internal/api/v4/openapi.yaml', page: '/docs/v4', markdown: '/api/v4/openapi.yaml' },
    { href: '../../internal/api/v5/openapi.yaml', page: '/docs/v5', markdown: '/api/v5/openapi.json' },
    { href: '../../CHANGELOG.md', page: '/docs/changelog', markdown: '/docs/changelog.md' },
    { href: '/console', page: '/console', markdown: '/console' },
  ])('$href', ({ href, page, markdown }) => {
    expect(linkAddress(href, 'page')).toBe(page);
    expect(linkAddress(href, 'markdown')).toBe(markdown);
  });

  test.each(['https://example.org/', '//example.org/', '../configuration.md'])('or is refused: %s', (href) => {
    expect(() => linkAddress(href, 'page')).toThrow(`a guide links to ${href}, which no server has`);
  });
});
