import { describe, expect, test } from 'vitest';
import { matchesName } from './matchesName';
import { graceEnd, type RosterEntry, updateRoster } from './roster';

const person = (identity: string): { identity: string; name: string } => ({ identity, name: identity });
const shown = (roster: readonly RosterEntry<{ identity: string }>[]): string =>
  roster.map(({ person: { identity }, disconnectedAt }) => (disconnectedAt === null ? identity : `(${identity})`)).join(' ');

describe('the roster', () => {
  const all = updateRoster([], ['a', 'b', 'c'].map(person), 0, () => 0);

  test('keeps the order of joining', () => {
    expect(shown(all)).toBe('a b c');
    expect(shown(updateRoster(all, ['d', 'c', 'b', 'a'].map(person), 0, () => 0))).toBe('a b c d');
  });

  test('keeps the position of a person who reconnects, and removes a person who does not', () => {
    const keepUntil = (disconnectedAt: number): number => disconnectedAt + 2_000;
    const blink = updateRoster(all, ['a', 'c'].map(person), 1_000, keepUntil);
    expect(shown(blink)).toBe('a (b) c');
    expect(shown(updateRoster(blink, ['a', 'b', 'c'].map(person), 1_500, keepUntil))).toBe('a b c');
    expect(shown(updateRoster(blink, ['a', 'c'].map(person), 2_999, keepUntil))).toBe('a (b) c');
    expect(shown(updateRoster(blink, ['a', 'c'].map(person), 3_000, keepUntil))).toBe('a c');
  });

  test('removes a person who left at once', () => {
    const keepUntil = (disconnectedAt: number, identity: string): number => (identity === 'b' ? disconnectedAt : disconnectedAt + 2_000);
    expect(shown(updateRoster(all, ['a'].map(person), 1_000, keepUntil))).toBe('a (c)');
  });

  test('keeps a person who lost the connection for two minutes', () => {
    const keepUntil = (disconnectedAt: number): number => graceEnd(disconnectedAt, 0);
    const lost = updateRoster(all, ['a', 'c'].map(person), 5_000, keepUntil);
    expect(shown(updateRoster(lost, ['a', 'c'].map(person), 124_999, keepUntil))).toBe('a (b) c');
    expect(shown(updateRoster(lost, ['a', 'c'].map(person), 125_000, keepUntil))).toBe('a c');
    // After a return, the two minutes begin again.
    const back = updateRoster(lost, ['a', 'b', 'c'].map(person), 124_999, keepUntil);
    expect(shown(back)).toBe('a b c');
    expect(shown(updateRoster(back, ['a', 'c'].map(person), 125_000, keepUntil))).toBe('a (b) c');
  });

  test('keeps the people who were missing when this page reconnected for eight seconds', () => {
    const away = updateRoster(all, ['a'].map(person), 1_000, (disconnectedAt) => graceEnd(disconnectedAt, null));
    const keepUntil = (disconnectedAt: number): number => graceEnd(disconnectedAt, 300_000);
    const found = updateRoster(away, ['a', 'b'].map(person), 300_500, keepUntil);
    expect(shown(found)).toBe('a b (c)');
    expect(shown(updateRoster(found, ['a', 'b'].map(person), 307_999, keepUntil))).toBe('a b (c)');
    expect(shown(updateRoster(found, ['a', 'b'].map(person), 308_000, keepUntil))).toBe('a b');
  });

  test('keeps everybody while the page itself is disconnected', () => {
    const away = updateRoster(all, ['a'].map(person), 1_000, () => Infinity);
    expect(shown(updateRoster(away, ['a'].map(person), 99_000, () => Infinity))).toBe('a (b) (c)');
  });
});

describe('a name is found', () => {
  test.each([
    ['Béla Kovács', 'bela', true],
    ['Béla Kovács', ' KOVÁ ', true],
    ['Emil Søndergaard', '', true],
    ['أَمِينة', 'أمينة', true],
    ['Béla Kovács', 'carlos', false],
  ])('%s by %j: %s', (name, search, found) => expect(matchesName(name, search)).toBe(found));
});
