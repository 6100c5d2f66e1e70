import { Marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { Anchors, plainText, slug } from './headings.ts';

describe('the anchor of a heading is the one of GitHub', () => {
  test.each([
    { text: 'Debug a rejected signature', want: 'debug-a-rejected-signature' },
    { text: 'Versions 3 and 4: the body signature', want: 'versions-3-and-4-the-body-signature' },
    { text: 'Start & stop', want: 'start--stop' },
    { text: 'join_room', want: 'join_room' },
    { text: '1. Set the credentials', want: '1-set-the-credentials' },
    { text: ' Über uns ', want: 'über-uns' },
  ])('$text', ({ text, want }) => {
    expect(slug(text)).toBe(want);
  });

  test('also the second time', () => {
    const anchors = new Anchors();
    expect(['Go', 'Python', 'Go', 'Go'].map((text) => anchors.add(text))).toEqual(['go', 'python', 'go-1', 'go-2']);
  });
});

test('the text of inline Markdown has no marks', () => {
  const [paragraph] = new Marked().lexer('Call **`join_room`** & see [the *errors*](errors.md).');
  expect(paragraph && plainText([paragraph])).toBe('Call join_room & see the errors.');
});
