import { describe, expect, test } from 'vitest';
import { describePresenceChanges } from './presenceChanges';

const person = (name: string): { identity: string; name: string } => ({ identity: name, name });

describe('the presence changes', () => {
  const [a, b, c] = ['Ana', 'Ben', 'Chen'].map(person);
  test('name one person, count several, and are null when nobody came or left', () => {
    if (!a || !b || !c) throw new Error('unreachable');
    expect(describePresenceChanges([a], [a, b])).toBe('Ben joined.');
    expect(describePresenceChanges([a], [a, b, c])).toBe('2 people joined.');
    expect(describePresenceChanges([a, b, c], [a])).toBe('2 people left.');
    expect(describePresenceChanges([a, b], [a, c])).toBe('Chen joined. Ben left.');
    expect(describePresenceChanges([a, b], [b, a])).toBeNull();
  });
});
