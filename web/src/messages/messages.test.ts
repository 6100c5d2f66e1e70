import ts from 'typescript';
import { afterEach, describe, expect, test } from 'vitest';
import { count, formatNumber, type Language, languages, type Messages, type PluralForms, setLanguage, t } from '.';
import { ar } from './ar';
import { de } from './de';
import { en } from './en';
import { es } from './es';
import { fr } from './fr';
import { removeLangParameter, selectLanguage } from './language';
import { tr } from './tr';

const all: Record<Language, Messages> = { ar, de, en, es, fr, tr };
const sources = Object.entries(import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })).filter(
  ([path]) => !path.endsWith('.test.ts'),
);

const formsOf = (message: string | PluralForms): [name: string, text: string][] =>
  typeof message === 'string' ? [['text', message]] : Object.entries(message);
const slotsOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, slot]) => slot ?? '').sort();
const entriesOf = (messages: Messages): [string, string | PluralForms][] => Object.entries(messages);

afterEach(() => setLanguage('en', en));

test('every message is used', () => {
  const code = sources
    .filter(([path]) => !/\/messages\//.test(path) && !path.startsWith('./'))
    .map(([, text]) => text)
    .join('\n');
  expect(Object.keys(en).filter((key) => !code.includes(`'${key}'`))).toEqual([]);
});

// A message that is read when a module is loaded would stay in the language of that moment.
test('no message is read while a module is loaded', () => {
  const early: string[] = [];
  for (const [path, text] of sources) {
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node)) return;
      if (ts.isCallExpression(node) && ['t', 'count', 'digits', 'locale'].includes(node.expression.getText())) {
        early.push(`${path}: ${node.getText()}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  expect(early).toEqual([]);
});

describe.each(Object.keys(languages) as Language[])('%s', (language) => {
  const messages = all[language];

  test('has every message and no other', () => {
    expect(
      Object.keys(en).filter((key) => !(key in messages)),
      'missing',
    ).toEqual([]);
    expect(
      Object.keys(messages).filter((key) => !(key in en)),
      'too many',
    ).toEqual([]);
    expect(
      entriesOf(messages).filter(([, message]) => formsOf(message).some(([, text]) => text.trim() === '')),
      'empty',
    ).toEqual([]);
  });

  test('has the placeholders of the English text', () => {
    for (const [key, message] of entriesOf(messages)) {
      const english = en[key as keyof Messages];
      if (typeof english === 'string' || typeof message === 'string') {
        expect(typeof message, key).toBe(typeof english);
        expect(slotsOf(String(message)), key).toEqual(slotsOf(String(english)));
        continue;
      }
      const wanted = slotsOf(english.other);
      for (const [form, text] of formsOf(message)) {
        const slots = slotsOf(text);
        // A form for none, one or two may leave out the number.
        const numberless = ['zero', 'one', 'two'].includes(form) || !wanted.includes('n');
        expect(numberless ? slots.filter((slot) => slot !== 'n') : slots, `${key} ${form}`).toEqual(
          numberless ? wanted.filter((slot) => slot !== 'n') : wanted,
        );
      }
    }
  });

  test('has a form for every number a meeting may have', () => {
    const rules = new Intl.PluralRules(language);
    const needed = [...new Set(Array.from({ length: 10_000 }, (_, n) => rules.select(n)))].sort();
    for (const [key, message] of entriesOf(messages)) {
      if (typeof message !== 'string') expect(Object.keys(message).sort(), key).toEqual(needed);
    }
  });

  test('keeps the voice: no exclamation marks, no codes', () => {
    for (const [key, message] of entriesOf(messages)) {
      for (const [, text] of formsOf(message)) expect(text, key).not.toMatch(/!|¡|oops|error|invalid/i);
    }
  });
});

// The button says Join, Rejoin, Ask to join or Open the room now.
test('errors of joining name no button', () => {
  for (const messages of Object.values(all)) {
    const buttons = [messages['lobby.join'], messages['left.back'], messages['waiting.ask'], messages['lobby.openNow']];
    for (const key of ['lobby.open', 'lobby.gaveUp', 'lobby.noMedia'] as const) {
      for (const button of buttons) expect(messages[key]).not.toContain(button);
    }
  }
});

test('a removed person is admitted with the word for those who wait', () => {
  for (const [language, messages] of Object.entries(all)) {
    expect(messages['moderation.readmit'].toLocaleLowerCase(language)).toContain(messages['waitingRoom.admit'].toLocaleLowerCase(language));
  }
});

test('slots are filled, numbers as people write them', () => {
  expect(t('say.joined', { name: 'Ana {n}' })).toBe('Ana {n} joined.');
  expect(count('room.people', 1)).toBe('1 person');
  expect(count('room.people', 1200)).toBe('1,200 people');
  setLanguage('de', de, 'de-DE');
  expect(count('room.people', 1200)).toBe('1.200 Personen');
  setLanguage('ar', ar, 'ar-EG');
  expect(formatNumber(12)).toBe('١٢');
});

test.each(['en-GB', 'en-IN', 'de-CH', 'es-MX', 'fr-CA', 'tr-TR', 'ar-EG', 'ar-MA', 'en-u-nu-arab'])(
  'numbers are written as the region does: %s',
  (locale) => {
    const format = new Intl.NumberFormat(locale);
    const language = locale.slice(0, 2) as Language;
    setLanguage(language, all[language], locale);
    for (const n of [0, 1, 9, 10, 99, 100, 999, 1000, 12_345]) expect(formatNumber(n)).toBe(format.format(n));
  },
);

test('Arabic has a form for none, one, two, a few, many and hundreds', () => {
  setLanguage('ar', ar);
  expect([1, 2, 3, 11, 100, 103].map((n) => count('room.people', n))).toEqual([
    'شخص واحد',
    'شخصان',
    '3 أشخاص',
    '11 شخصًا',
    '100 شخص',
    '103 أشخاص',
  ]);
});

test('a name that runs the other way does not turn the sentence around', () => {
  expect(t('say.joined', { name: 'أمينة' })).toBe('\u2068أمينة\u2069 joined.');
  setLanguage('ar', ar);
  expect(t('say.joined', { name: 'Ben' })).toBe('انضم \u2068Ben\u2069.');
});

test.each<[what: string, tags: (string | null)[], language: Language, locale: string]>([
  ['what the address asks for', ['tr', 'de', 'fr-CA'], 'tr', 'tr'],
  ['what was chosen before', [null, 'de', 'fr-CA'], 'de', 'de'],
  ['what the browser says', [null, null, 'pt-BR', 'fr-CA'], 'fr', 'fr-CA'],
  ['the region that the browser knows', ['de', null, 'en-US', 'de-CH'], 'de', 'de-CH'],
  ['a tag in any case, with a script', ['AR-arab-eg', 'de'], 'ar', 'AR-arab-eg'],
  ['a tag with an underscore', ['de_AT'], 'de', 'de-AT'],
  ['English at last', ['klingon', '', 'pt'], 'en', 'en'],
  ['no region of another language', ['es', null, 'en-GB'], 'es', 'es'],
])('the language is %s', (_, tags, language, locale) => {
  expect(selectLanguage(tags)).toEqual({ language, locale });
});

test('a choice replaces the language in the address and nothing else', () => {
  expect(removeLangParameter('https://meet.example/r/x?lang=de&name=Ana#t=abc_-1')).toBe('https://meet.example/r/x?name=Ana#t=abc_-1');
  expect(removeLangParameter('https://meet.example/r/x#t=abc_-1&lang=de')).toBe('https://meet.example/r/x#t=abc_-1');
});
