import { expect, test } from 'vitest';
import { checkValue, valueNames } from './readerValues';

test.each(valueNames)('a secret is refused in every field: %s', (name) => {
  for (const secret of ['gs_abc', 'whsec_AAAA', 'pt_abc']) {
    expect(checkValue(name, secret)).toMatch(/^This is a secret\./);
  }
});

test.each([
  { name: 'project_id', value: '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10', problem: '' },
  { name: 'project_id', value: '', problem: '' },
  { name: 'project_id', value: 'my project', problem: 'A project ID is a UUID' },
  { name: 'api_key', value: 'pk_AbC123', problem: '' },
  { name: 'api_key', value: '', problem: '' },
  { name: 'api_key', value: 'sk_live_1', problem: 'An API key begins with pk_.' },
] as const)('$name "$value"', ({ name, value, problem }) => {
  const found = checkValue(name, value);
  if (problem) expect(found).toContain(problem);
  else expect(found).toBe('');
});
