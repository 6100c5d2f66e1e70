import { describe, expect, test } from 'vitest';
import { initials } from './initials';

describe('initials', () => {
  test.each([
    ['Amina Diallo', 'AD'],
    ['ben', 'B'],
    ['  Ana  María  de Souza ', 'AS'],
    ['😀 x', '😀X'],
    ['Ana (2)', 'A'],
    ['?', '?'],
    ['', ''],
  ])('of %j', (name, letters) => expect(initials(name)).toBe(letters));
});
