import { browserMemory } from '../lib/memory';
import { languages, speak, spoken, type Language, type Messages } from '.';

/** One small file each; only the one that is spoken is loaded. */
const files: Record<Language, () => Promise<Messages>> = {
  ar: () => import('./ar').then(({ ar }) => ar),
  de: () => import('./de').then(({ de }) => de),
  en: () => import('./en').then(({ en }) => en),
  es: () => import('./es').then(({ es }) => es),
  fr: () => import('./fr').then(({ fr }) => fr),
  tr: () => import('./tr').then(({ tr }) => tr),
};

const memory = 'parley.lang';
const again = 2_000;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

interface Chosen {
  language: Language;
  /** As it was asked for, with its region. */
  locale: string;
}

/** The first of these tags ("de-CH") that the page speaks; English when it speaks none. */
export function choiceOf(tags: readonly (string | null | undefined)[]): Chosen {
  const known = tags.flatMap((tag) => {
    const language = tag ? languageOf(tag) : null;
    return tag && language ? [{ language, locale: tag }] : [];
  });
  const language = known[0]?.language ?? 'en';
  // Whoever asks for German in a Swiss browser reads numbers as the Swiss do.
  const regional = known.find(({ language: other, locale }) => other === language && locale.length > 2);
  return { language, locale: regional?.locale ?? language };
}

function languageOf(tag: string): Language | null {
  try {
    const { language } = new Intl.Locale(tag);
    return isLanguage(language) ? language : null;
  } catch {
    return null; // no tag at all
  }
}

/** Loads what this visitor reads: what the address asks for, what they chose before, what their browser says. */
export async function begin(asked: string | null): Promise<void> {
  const { language, locale } = choiceOf([asked, browserMemory.get(memory), ...navigator.languages]);
  for (;;) {
    // A page without a word is worse than one in English.
    for (const candidate of new Set<Language>([language, 'en'])) {
      const messages = await files[candidate]().catch(() => null);
      if (messages) return say(candidate, messages, candidate === language ? locale : candidate);
    }
    await new Promise((done) => setTimeout(done, again));
  }
}

/** The visitor's own choice: remembered, and stronger than what the address asks for. */
export async function choose(language: Language): Promise<void> {
  const messages = await files[language]().catch(() => null);
  if (!messages) return;
  browserMemory.set(memory, language);
  history.replaceState(history.state, '', withoutLang(location.href));
  say(language, messages, choiceOf([language, ...navigator.languages]).locale);
}

export function withoutLang(address: string): string {
  const url = new URL(address);
  url.searchParams.delete('lang');
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (fragment.has('lang')) {
    fragment.delete('lang');
    url.hash = fragment.toString();
  }
  return url.href;
}

function say(language: Language, messages: Messages, locale: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
  if (spoken.get() !== language) speak(language, messages, locale);
}
