import { type ReactElement, useId } from 'react';
import { currentLanguage, languages, t } from '../messages';
import { chooseLanguage, isLanguage } from '../messages/language';
import { useStore } from '../state/useStore';

/** Each language has its own name, so that its readers recognize it. */
export function LanguageSelect({ className = 'field' }: { className?: string }): ReactElement {
  const id = useId();
  const language = useStore(currentLanguage) ?? 'en';
  return (
    <div className={className}>
      <label htmlFor={id}>{t('language.label')}</label>
      <select id={id} value={language} onChange={({ target }) => isLanguage(target.value) && void chooseLanguage(target.value)}>
        {Object.entries(languages).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag} dir={tag === 'ar' ? 'rtl' : 'ltr'}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
