import { useEffect } from 'react';

/** Gives the browser's bars the color of the stage, which is dark in both themes. */
export function useThemeColor(video: boolean): void {
  useEffect(() => {
    if (!video) return;
    const themes = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')];
    const before = themes.map(({ content }) => content);
    const stage = getComputedStyle(document.documentElement).getPropertyValue('--surface').trim();
    for (const theme of themes) theme.content = stage;
    return () => {
      themes.forEach((theme, i) => {
        theme.content = before[i] ?? '';
      });
    };
  }, [video]);
}
