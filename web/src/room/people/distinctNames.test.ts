import { expect, test } from 'vitest';
import { distinctNames } from './distinctNames';

const person = (identity: string, name: string) => ({ identity, name });

test('people with the same name are numbered in the order of their identities', () => {
  const people = [person('3', 'ana'), person('1', 'Ana'), person('2', 'Ben'), person('4', ' Ana')];
  expect(distinctNames(people)).toEqual([person('3', 'ana (2)'), person('1', 'Ana'), person('2', 'Ben'), person('4', ' Ana (3)')]);
});

test('others stay the same objects', () => {
  const people = [person('1', 'Ana'), person('2', 'Ben')];
  expect(distinctNames(people).every((one, i) => one === people[i])).toBe(true);
});
