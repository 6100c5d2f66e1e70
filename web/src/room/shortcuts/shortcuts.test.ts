import { expect, test } from 'vitest';
import { type Capture, canPushToTalk } from '../../media/mediaState';
import { findShortcut, type KeyPress } from './keyPress';
import { SpeechDetector } from './mutedSpeech';

const press = (key: string, part: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  keyCode: 0,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  repeat: false,
  isComposing: false,
  defaultPrevented: false,
  ...part,
});
const table = [{ key: 'm' }, { key: '?' }];

test.each([
  ['the letter', press('m'), 'm'],
  ['the letter with Caps Lock', press('M'), 'm'],
  ['the place of the letter on an Arabic keyboard', press('ة', { code: 'KeyM' }), 'm'],
  ['the question mark', press('?'), '?'],
  ['the Arabic question mark', press('؟'), '?'],
  ['another letter at that place', press('ü', { code: 'BracketLeft' }), undefined],
  ['the letter that another keyboard has there', press(',', { code: 'KeyM' }), undefined],
  ['Control and the letter', press('m', { ctrlKey: true }), undefined],
  ['Alt and the letter', press('m', { altKey: true }), undefined],
  ['Command and the letter', press('m', { metaKey: true }), undefined],
  ['a letter that is held', press('m', { repeat: true }), undefined],
  ['a letter on its way to a syllable', press('m', { isComposing: true }), undefined],
  ['the key that ends a conversion in Safari', press('m', { keyCode: 229 }), undefined],
  ['what something else has taken', press('m', { defaultPrevented: true }), undefined],
])('%s', (_, event, key) => expect(findShortcut(event, table)?.key).toBe(key));

test('a cough is not detected as speech, words are', () => {
  const ear = new SpeechDetector();
  expect([0.9, 0.8, 0.1, 0.1].map((level, i) => ear.isSpeaking(level, i * 150))).toEqual([false, false, false, false]);
  expect(ear.isSpeaking(0.9, 9_000)).toBe(false);
  expect(ear.isSpeaking(0.9, 9_500)).toBe(false);
  expect(ear.isSpeaking(0.5, 10_000)).toBe(true);
});

test.each<[string, boolean, boolean, Capture]>([
  ['of a muted visitor', true, false, { is: 'live', track: {} as MediaStreamTrack, interrupted: false, deviceId: '' }],
  ['of a muted visitor whose microphone is opening', true, false, { is: 'requesting', live: false }],
  ['that a host has unlocked', true, true, { is: 'off' }],
  ['that failed', true, true, { is: 'failed', fault: 'busy' }],
  ['that is opening', false, true, { is: 'requesting', live: false }],
  ['that is on', false, true, { is: 'live', track: {} as MediaStreamTrack, interrupted: false, deviceId: '' }],
])('the space bar and a microphone %s: may unmute is %s', (_, mayUnmute, micOn, mic) => {
  expect(canPushToTalk({ micOn, mic })).toBe(mayUnmute);
});
