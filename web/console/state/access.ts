import type { Schemas } from '../api/client';
import type { Caller, Role } from './session';

const operators: Role[] = ['owner', 'operator'];
const readers: Role[] = [...operators, 'auditor'];
const owners: Role[] = ['owner'];
const andIntegrators = (roles: Role[]): Role[] => [...roles, 'integrator'];

/**
 * The roles that may call the operations behind the pages and buttons, as in
 * internal/api/manage/access.go, which a test compares with this table.
 */
export const rolesByRoute = {
  'GET /organizations': readers,
  'POST /organizations': operators,
  'GET /organizations/{organization_id}': readers,
  'DELETE /organizations/{organization_id}': owners,
  'POST /organizations/{organization_id}/suspend': operators,
  'POST /organizations/{organization_id}/resume': operators,
  'GET /projects': andIntegrators(readers),
  'POST /projects': operators,
  'PATCH /projects/{project_id}': operators,
  'DELETE /projects/{project_id}': owners,
  'POST /projects/{project_id}/suspend': operators,
  'POST /projects/{project_id}/resume': operators,
  'POST /projects/{project_id}/rotate-secret': andIntegrators(operators),
  'POST /projects/{project_id}/revoke-secret-overlap': andIntegrators(operators),
  'POST /projects/{project_id}/keys/rotate': andIntegrators(operators),
  'POST /projects/{project_id}/keys/revoke-overlap': andIntegrators(operators),
  'POST /rooms/{room_id}/end': andIntegrators(operators),
  'POST /projects/{project_id}/webhook-test': andIntegrators(operators),
  'POST /projects/{project_id}/webhook-pause': andIntegrators(operators),
  'POST /projects/{project_id}/webhook-resume': andIntegrators(operators),
  'POST /webhook-replays': andIntegrators(operators),
  'POST /webhook-retries': andIntegrators(operators),
  'GET /tokens': readers,
  'POST /tokens': owners,
  'POST /tokens/{token_id}/revoke': owners,
  'GET /rejected-calls': readers,
  'GET /audit': readers,
  'GET /audit/verify': readers,
  'GET /sessions': readers,
  'POST /sessions/{session_id}/revoke': operators,
  'POST /sign-in-links': operators,
  'GET /users': readers,
  'POST /users': owners,
  'PATCH /users/{user_id}': owners,
  'POST /rooms/{room_id}/remove-person': andIntegrators(operators),
  'GET /nodes': readers,
  'POST /nodes/{node}/drain': operators,
  'GET /settings': readers,
  'POST /projects/{project_id}/signature-checks': andIntegrators(readers),
} satisfies Record<string, Role[]>;

/** Reports whether a caller may call an operation, for an integrator in their projects. */
export function may(caller: Caller, route: keyof typeof rolesByRoute): boolean {
  return rolesByRoute[route].includes(caller.role);
}

/** Reports whether a caller may revoke a session. An operator may end those of integrators' links only. */
export function mayRevoke(caller: Caller, { role }: Pick<Schemas['Session'], 'role'>): boolean {
  return may(caller, 'POST /sessions/{session_id}/revoke') && (caller.role === 'owner' || role === 'integrator');
}
