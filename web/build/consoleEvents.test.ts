import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { auditActions } from '../console/pages/auditActions.ts';
import { eventTypes } from '../console/pages/projectSettings.ts';

/** The constants of a type in a Go file. */
function constants(file: string, type: string): Set<string> {
  const source = readFileSync(resolve(import.meta.dirname, '../../internal', file), 'utf8');
  return new Set([...source.matchAll(new RegExp(`^\\t\\w+\\s+${type} = "(\\S+)"`, 'gm'))].map(([, value = '']) => value));
}

test('the webhook events that a project can choose are those of the server', () => {
  const events = constants('event/event.go', 'Type');
  events.delete('webhook.test'); // it is always sent
  expect(new Set(eventTypes)).toEqual(events);
});

test('the actions that the audit log can be filtered by are those of the server', () => {
  expect(new Set<string>(auditActions)).toEqual(constants('audit/audit.go', 'Action'));
});
