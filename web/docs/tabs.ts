import { browserStorage } from '../src/state/storage';
import { chooseLabel, remember } from './labels';

const key = 'parley.docs.languages';

function readChosen(): string[] {
  try {
    const stored: unknown = JSON.parse(browserStorage.get(key) ?? '[]');
    return Array.isArray(stored) ? stored.filter((label) => typeof label === 'string') : [];
  } catch {
    return [];
  }
}

interface Group {
  tabs: HTMLButtonElement[];
  labels: string[];
}

function select({ tabs }: Group, selected: number): void {
  for (const [i, tab] of tabs.entries()) {
    tab.setAttribute('aria-selected', String(i === selected));
    tab.tabIndex = i === selected ? 0 : -1;
    const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
    if (panel) panel.hidden = i !== selected;
  }
}

/** Returns the tab that a key moves to, or -1 if the key does not move. */
function target(pressed: string, current: number, count: number): number {
  switch (pressed) {
    case 'ArrowRight':
      return (current + 1) % count;
    case 'ArrowLeft':
      return (current + count - 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return -1;
  }
}

/** Shows one code block of each group. All groups of all pages show the language that was chosen last. */
export function setUpTabs(): void {
  const groups = [...document.querySelectorAll('.tabs')].map((group): Group => {
    const tabs = [...group.querySelectorAll<HTMLButtonElement>('[role=tab]')];
    return { tabs, labels: tabs.map((tab) => tab.textContent) };
  });
  const show = (chosen: string[]): void => {
    for (const group of groups) select(group, chooseLabel(group.labels, chosen));
  };
  const choose = (tab: HTMLButtonElement): void => {
    const before = tab.getBoundingClientRect().top;
    const chosen = remember(readChosen(), tab.textContent);
    browserStorage.set(key, JSON.stringify(chosen));
    show(chosen);
    // Groups further up may be higher or lower now. The chosen tab stays where it is.
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
  };
  for (const { tabs } of groups) {
    for (const [i, tab] of tabs.entries()) {
      tab.addEventListener('click', () => choose(tab));
      tab.addEventListener('keydown', (event) => {
        const next = tabs[target(event.key, i, tabs.length)];
        if (!next) return;
        event.preventDefault();
        next.focus({ preventScroll: true });
        choose(next);
        next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      });
    }
  }
  show(readChosen());
  document.documentElement.classList.add('tabs-ready');
}
