import { expect, test } from 'vitest';
import { cleanName } from './cleanName';

test.each([
  [' \ufeffAna\u00ad\tLima\u200b\n', 'Ana Lima'],
  ['\u202eAna\u2069', 'Ana'],
  ['علی\u200cرضا', 'علی\u200cرضا'],
  ['👩\u200d👩\u200d👧', '👩\u200d👩\u200d👧'],
  ['🏴\u{E0067}\u{E0062}\u{E007F}', '🏴\u{E0067}\u{E0062}\u{E007F}'],
  ['\u200b\n', ''],
  ['\u3164', ''],
  ['\u200e \u0301', ''],
  ['?', '?'],
])('the name %j becomes %j', (text, cleaned) => expect(cleanName(text)).toBe(cleaned));
