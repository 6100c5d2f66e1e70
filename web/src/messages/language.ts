import { browserStorage } from '../lib/storage';
import { languages, locale, setLanguage, currentLanguage, type Language, type Messages } from '.';

type Load = () => Promise<{ default: Partial<Messages> }>;

/** Two small files each: the first view's words, and the rest. Only what is spoken is loaded. */
const files: Record<Language, { first: Load; rest: Load }> = {
  ar: { first: () => import('./ar.ts?first'), rest: () => import('./ar.ts?rest') },
  de: { first: () => import('./de.ts?first'), rest: () => import('./de.ts?rest') },
  en: { first: () => import('./en.ts?first'), rest: () => import('./en.ts?rest') },
  es: { first: () => import('./es.ts?first'), rest: () => import('./es.ts?rest') },
  fr: { first: () => import('./fr.ts?first'), rest: () => import('./fr.ts?rest') },
  tr: { first: () => import('./tr.ts?first'), rest: () => import('./tr.ts?rest') },
};

/** Whether something has asked for the words beyond the first view. */
let restRequested = false;

async function load(language: Language): Promise<Messages> {
  const { first, rest } = files[language];
  const parts = await Promise.all(restRequested ? [first(), rest()] : [first()]);
  // Nobody asks for the rest before what says it is there.
  return Object.assign({}, ...parts.map((part) => part.default)) as Messages;
}

const storageKey = 'parley.lang';
const retryMs = 2_000;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

interface LanguageChoice {
  language: Language;
  /** As it was asked for, with its region. */
  locale: string;
}

/** The first of these tags ("de-CH") that the page speaks; English when it speaks none. */
export function selectLanguage(tags: readonly (string | null | undefined)[]): LanguageChoice {
  const supported = tags.flatMap((tag) => {
    const language = tag ? languageOf(tag) : null;
    return tag && language ? [{ language, locale: tag }] : [];
  });
  const language = supported[0]?.language ?? 'en';
  // Whoever asks for German in a Swiss browser reads numbers as the Swiss do.
  const regional = supported.find(({ language: other, locale }) => other === language && locale.length > 2);
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
export async function loadInitialLanguage(requested: string | null): Promise<void> {
  const { language, locale: regional } = selectLanguage([requested, browserStorage.get(storageKey), ...navigator.languages]);
  for (;;) {
    // A page without a word is worse than one in English.
    for (const candidate of new Set<Language>([language, 'en'])) {
      const messages = await load(candidate).catch(() => null);
      if (messages) return applyLanguage(candidate, messages, candidate === language ? regional : candidate);
    }
    await new Promise((done) => setTimeout(done, retryMs));
  }
}

/** Loads what the first view does not say, in the language that is spoken then. */
export async function loadRemainingMessages(): Promise<void> {
  restRequested = true;
  for (;;) {
    const language = currentLanguage.get() ?? 'en';
    const messages = await load(language);
    if (currentLanguage.get() === language) return setLanguage(language, messages, locale());
    // Another one was chosen meanwhile.
  }
}

/** The visitor's own choice: remembered, and stronger than what the address asks for. */
export async function chooseLanguage(language: Language): Promise<void> {
  const messages = await load(language).catch(() => null);
  if (!messages) return;
  browserStorage.set(storageKey, language);
  history.replaceState(history.state, '', removeLangParameter(location.href));
  applyLanguage(language, messages, selectLanguage([language, ...navigator.languages]).locale);
}

export function removeLangParameter(address: string): string {
  const url = new URL(address);
  url.searchParams.delete('lang');
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (fragment.has('lang')) {
    fragment.delete('lang');
    url.hash = fragment.toString();
  }
  return url.href;
}

function applyLanguage(language: Language, messages: Messages, regional: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
  setLanguage(language, messages, regional);
}
