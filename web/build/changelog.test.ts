import { expect, test } from 'vitest';
import { changelogGuide } from './changelog';

test('the names of versions are headings', () => {
  expect(changelogGuide('# Changelog\n\n## [1.0.0] - 2027-01-31\n')).toBe('# Changelog\n\n## 1.0.0 - 2027-01-31\n');
});

test('links lead to guides, and others are texts', () => {
  const text = 'See [Versions](docs/api/versions.md#end), [Backups](docs/operating/backup.md) and\n[Keep](https://example.org/).';
  expect(changelogGuide(text)).toBe('See [Versions](versions.md#end), Backups and\nKeep.');
});
