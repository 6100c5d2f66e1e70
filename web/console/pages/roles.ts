import type { Schemas } from '../api/client';

/** The roles, and what their bearers may do. */
export const roleText: Record<Schemas['TokenRole'], { name: string; may: string }> = {
  owner: { name: 'Owner', may: 'may do everything, and manages the team' },
  operator: { name: 'Operator', may: 'may do everything except manage the team, make backups, and delete projects and organizations' },
  auditor: { name: 'Auditor', may: 'may read everything, and change nothing' },
  integrator: { name: 'Integrator', may: 'sees and manages only the chosen projects' },
};
