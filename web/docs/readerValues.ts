/** The values that readers may enter. The address of the server is known. */
export const valueNames = ['project_id', 'api_key'] as const;
export type ValueName = (typeof valueNames)[number];

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reports whether a value is a Gateway secret, a project secret or a management token. */
export const isSecret = (value: string): boolean => /^(?:gs_|whsec_|pt_)/.test(value);

/** Returns a sentence if a value must not be stored, and else an empty text. */
export function checkValue(name: ValueName, value: string): string {
  if (isSecret(value)) return 'This is a secret. Keep it on your server, and never paste it into a page.';
  if (value === '') return '';
  if (name === 'api_key') return /^pk_\w+$/.test(value) ? '' : 'An API key begins with pk_.';
  return uuid.test(value) ? '' : 'A project ID is a UUID such as 0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10.';
}
