import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { signatureVersion } from '../console/pages/signatureVersion.ts';

interface Description {
  security: object[];
  paths: Record<string, Record<string, { security?: object[] }>>;
}

/** The signed routes of a version, each with how its description says that it is signed. */
function signedRoutes(version: 'v3' | 'v4' | 'v5'): [path: string, signed: string][] {
  const file = resolve(import.meta.dirname, `../../internal/api/${version}/openapi.json`);
  const { security, paths } = JSON.parse(readFileSync(file, 'utf8')) as Description;
  return Object.entries(paths).flatMap(([route, operations]) =>
    Object.values(operations)
      .map((operation) => operation.security ?? security)
      .filter((schemes) => schemes.length > 0)
      .map((schemes): [string, string] => [
        `/api/${version}${route.replace('{room_id}', '0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71')}`,
        schemes.some((scheme) => 'timedSignature' in scheme) ? 'companion' : version,
      ]),
  );
}

for (const version of ['v3', 'v4', 'v5'] as const) {
  const routes = signedRoutes(version);

  test(`version ${version} has signed routes`, () => {
    expect(routes.length).toBeGreaterThan(3);
  });

  test.each(routes)('the signature tester opens %s as %s', (path, signed) => {
    expect(signatureVersion({ version, path })).toBe(signed);
    expect(signatureVersion({ path })).toBe(signed);
  });
}

test.each([
  [{}, 'v4'],
  [{ version: 'v3' }, 'v3'],
  [{ version: 'v5' }, 'v5'],
])('the signature tester opens without a path as a creation: %j', (query, signed) => {
  expect(signatureVersion(query as Record<string, string>)).toBe(signed);
});
