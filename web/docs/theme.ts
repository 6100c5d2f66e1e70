// A script without imports and exports, because it runs before the page is drawn. It also tells the
// styles that scripts run.
{
  const key = 'parley.docs.theme';
  const systemQuery = '(prefers-color-scheme: dark)';
  const root = document.documentElement;
  const system = matchMedia(systemQuery);

  const read = (): string => {
    try {
      return localStorage.getItem(key) ?? 'system';
    } catch {
      return 'system';
    }
  };
  const write = (theme: string): void => {
    try {
      localStorage.setItem(key, theme);
    } catch {
      // The theme applies to this page only.
    }
  };

  /** The rules of the styles for a dark system. The tokens are shared with pages that always follow the system. */
  const darkRules = (): CSSMediaRule[] =>
    [...document.styleSheets].flatMap((sheet) =>
      [...sheet.cssRules].filter((rule) => rule instanceof CSSMediaRule && rule.conditionText === systemQuery),
    ) as CSSMediaRule[];
  const rules = darkRules();

  const apply = (theme: string): void => {
    // Dark applies to screens only, because paper is white.
    const media = new Map([
      ['dark', 'screen'],
      ['light', 'not all'],
    ]);
    for (const rule of rules) rule.media.mediaText = media.get(theme) ?? systemQuery;
    root.style.colorScheme = media.has(theme) ? theme : '';
    // The class of Swagger UI.
    root.classList.toggle('dark-mode', theme === 'dark' || (theme !== 'light' && system.matches));
  };

  root.classList.add('js');
  apply(read());
  system.addEventListener('change', () => apply(read()));
  addEventListener('storage', (event) => {
    if (event.key === key) apply(read());
  });
  addEventListener('DOMContentLoaded', () => {
    const choice = document.querySelector<HTMLSelectElement>('.theme select');
    if (!choice) return;
    choice.value = read();
    choice.addEventListener('change', () => {
      write(choice.value);
      apply(choice.value);
    });
  });
}
