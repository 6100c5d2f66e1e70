import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mayRevoke, rolesByRoute } from '../console/state/access.ts';
import type { Role } from '../console/state/session.ts';

const source = readFileSync(resolve(import.meta.dirname, '../../internal/api/manage/access.go'), 'utf8');

/** Returns the roles that the server's table declares for a route. */
function declared(route: string): string[] {
  const [, value] = new RegExp(`"${route.replace(/[{}/]/g, '\\$&')}":\\s+(.*?),(?: //.*)?\\n`).exec(source) ?? [];
  if (!value) throw new Error(`internal/api/manage/access.go has no ${route}`);
  const base = { ownerOnly: ['owner'], operators: ['owner', 'operator'], readers: ['owner', 'operator', 'auditor'] }[
    value.replace(/\..*/, '')
  ];
  if (!base) throw new Error(`the access ${value} of ${route} is unknown`);
  return value.includes('.andIntegrators(') ? [...base, 'integrator'] : base;
}

test.each(Object.entries(rolesByRoute))('the buttons of %s are for the roles that the server allows', (route, roles) => {
  expect(roles).toEqual(declared(route));
});

test('an operator can end the sessions of links for integrators only', () => {
  const can = (role: Role, of?: Role) => mayRevoke({ kind: 'token', id: '', name: '', role, project_ids: [] }, of ? { role: of } : {});
  expect([can('owner'), can('owner', 'auditor'), can('operator', 'integrator')]).toEqual([true, true, true]);
  expect([can('operator'), can('operator', 'auditor'), can('auditor', 'integrator')]).toEqual([false, false, false]);
});
