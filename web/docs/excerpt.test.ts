import { describe, expect, test } from 'vitest';
import { excerpt, markTerms } from './excerpt';

describe('the marked words of a result', () => {
  test.each([
    { name: 'a word', text: 'Sign the body.', terms: ['body'], want: ['Sign the ', '[body]', '.'] },
    { name: 'another case', text: 'Key of it', terms: ['key', 'it'], want: ['[Key]', ' of ', '[it]'] },
    { name: 'the longer of two words', text: 'webhooks', terms: ['web', 'webhooks'], want: ['[webhooks]'] },
    { name: 'a word with signs of patterns', text: 'a (b) c', terms: ['(b)'], want: ['a ', '[(b)]', ' c'] },
    { name: 'nothing', text: 'Sign the body.', terms: [], want: ['Sign the body.'] },
  ])('$name', ({ text, terms, want }) => {
    expect(markTerms(text, terms).map((part) => (part.marked ? `[${part.text}]` : part.text))).toEqual(want);
  });
});

describe('the excerpt of a result', () => {
  const long = `${'before '.repeat(40)}needle ${'after '.repeat(40)}`.trim();

  test('is the whole of a short text', () => {
    expect(excerpt('Sign the body.', ['body'])).toBe('Sign the body.');
  });
  test('is about the first found word', () => {
    const found = excerpt(long, ['needle']);
    expect(found).toMatch(/^… before .*needle .*after …$/);
    expect(found.length).toBeLessThan(160);
  });
  test('is the beginning of a text without the words', () => {
    expect(excerpt(long, ['other'])).toMatch(/^before .*before …$/);
  });
  test('reaches to the end of the text', () => {
    expect(excerpt(long, [])).not.toContain('after');
    expect(excerpt(`${'before '.repeat(40)}needle`, ['needle'])).toMatch(/^… .*needle$/);
  });
});
