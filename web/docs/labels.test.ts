import { describe, expect, test } from 'vitest';
import { chooseLabel, remember } from './labels';

describe('the tab that a group shows', () => {
  const languages = ['curl', 'TypeScript', 'Python', 'Go'];
  test.each([
    { name: 'the first without a choice', labels: languages, chosen: [], want: 'curl' },
    { name: 'the chosen language', labels: languages, chosen: ['Python'], want: 'Python' },
    { name: 'the most recent choice', labels: languages, chosen: ['Go', 'Python'], want: 'Go' },
    { name: 'an earlier choice', labels: languages, chosen: ['pnpm', 'Python'], want: 'Python' },
    { name: 'the first of others', labels: ['npm', 'pnpm'], chosen: ['Python'], want: 'npm' },
    { name: 'JavaScript instead of TypeScript', labels: ['JavaScript'], chosen: ['TypeScript'], want: 'JavaScript' },
    { name: 'the exact one of both', labels: ['JavaScript', 'TypeScript'], chosen: ['TypeScript'], want: 'TypeScript' },
  ])('is $name', ({ labels, chosen, want }) => {
    expect(labels[chooseLabel(labels, chosen)]).toBe(want);
  });
});

test('a choice is remembered once, before the earlier ones', () => {
  expect(remember(['Go', 'Python'], 'Python')).toEqual(['Python', 'Go']);
  const many = Array.from({ length: 20 }, (_, i) => `label ${i}`).reduce(remember, []);
  expect(many).toHaveLength(10);
  expect(many[0]).toBe('label 19');
});
