import { excerpt, markTerms } from './excerpt';
import type { Found } from './searchEngine';

/** Macs use the command key for shortcuts. */
const isMac = navigator.platform.startsWith('Mac');
const failure = 'The search could not be loaded. Reload the page to try again.';

/** Returns the element of a result. It is a link, so that it can be opened in another tab. */
function option({ page, heading, text, address, terms }: Found, index: number): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = address;
  link.id = `page-result-${index}`;
  link.tabIndex = -1;
  link.setAttribute('role', 'option');
  link.setAttribute('aria-selected', 'false');
  const line = (className: string, content: string): void => {
    const element = document.createElement('span');
    element.className = className;
    for (const part of markTerms(content, terms)) {
      const child = document.createElement(part.marked ? 'mark' : 'span');
      child.textContent = part.text;
      element.append(child);
    }
    link.append(element);
  };
  if (page !== heading) line('where', page);
  line('what', heading);
  if (text) line('excerpt', excerpt(text, terms));
  return link;
}

/** Makes the field in the header search all pages while the reader types. */
export function setUpSearch(): void {
  const search = document.querySelector<HTMLElement>('.search');
  const input = search?.querySelector('input');
  const popup = search?.querySelector<HTMLElement>('.results');
  const list = popup?.querySelector<HTMLElement>('[role=listbox]');
  const message = popup?.querySelector<HTMLElement>('.message');
  const status = search?.querySelector('[role=status]');
  if (!search || !input || !popup || !list || !message || !status) return;

  let engine: Promise<(query: string) => Found[]> | undefined;
  const load = () => {
    engine ??= import('./searchEngine').then(({ loadSearch }) => loadSearch(search.dataset.index ?? ''));
    engine.catch(() => {
      engine = undefined;
    });
    return engine;
  };

  let active = -1;
  const activate = (index: number): void => {
    active = index;
    for (const [i, link] of [...list.children].entries()) link.setAttribute('aria-selected', String(i === index));
    const link = list.children[index];
    if (link) input.setAttribute('aria-activedescendant', link.id);
    else input.removeAttribute('aria-activedescendant');
    link?.scrollIntoView({ block: 'nearest' });
  };
  const open = (isOpen: boolean): void => {
    popup.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen && list.children.length > 0));
  };
  /** Shows results, or else a text. */
  const show = (found: Found[], text: string): void => {
    list.replaceChildren(...found.map(option));
    list.hidden = found.length === 0;
    message.hidden = found.length > 0;
    message.textContent = text;
    // The list is hidden at times, and a status must be there before its text changes.
    status.textContent = found.length > 0 ? `Results: ${found.length}` : text;
    open(found.length > 0 || text !== '');
    activate(found.length > 0 ? 0 : -1);
  };
  const find = async (): Promise<void> => {
    const query = input.value.trim();
    if (!query) return show([], '');
    try {
      const found = (await load())(query);
      // Another letter was typed in the meantime.
      if (query !== input.value.trim()) return;
      show(found, `No results for “${query}”.`);
    } catch {
      show([], failure);
    }
  };

  input.addEventListener('focus', () => {
    load().catch(() => {});
    if (input.value.trim()) void find();
  });
  input.addEventListener('input', () => void find());
  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    const isOpen = !popup.hidden && count > 0;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        event.preventDefault();
        if (!isOpen) void find();
        else activate((active + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
        break;
      case 'Enter':
        if (isOpen) (list.children[active] as HTMLElement | undefined)?.click();
        break;
      case 'Escape':
        // The second time, the browser empties the field.
        if (!popup.hidden) event.preventDefault();
        open(false);
        break;
    }
  });
  list.addEventListener('click', () => open(false));
  // The focus stays in the field. Otherwise Safari, where links get no focus, would close the list before the click.
  popup.addEventListener('mousedown', (event) => event.preventDefault());
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && search.contains(relatedTarget))) open(false);
  });
  const shortcut = search.querySelector('kbd');
  if (isMac && shortcut) shortcut.textContent = '⌘ K';
  input.setAttribute('aria-keyshortcuts', isMac ? 'Meta+K' : 'Control+K');
  document.addEventListener('keydown', (event) => {
    // With a modifier, because speech input and assistive technology type single characters (WCAG 2.1.4).
    if (event.key.toLowerCase() !== 'k' || !(isMac ? event.metaKey : event.ctrlKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
