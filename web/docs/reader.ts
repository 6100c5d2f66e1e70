import { browserStorage } from '../src/state/storage';
import { checkValue, isSecret, type ValueName, valueNames } from './readerValues';

const key = (name: ValueName): string => `parley.docs.${name}`;

/** Shows the address of this server and the values of the reader in the examples. */
function fill(): void {
  const values: Record<string, string> = { base_url: location.origin };
  for (const name of valueNames) values[name] = browserStorage.get(key(name)) ?? '';
  for (const element of document.querySelectorAll<HTMLElement>('[data-value]')) {
    const name = element.dataset.value ?? '';
    element.textContent = values[name] || `{{${name}}}`;
    element.classList.toggle('missing', !values[name]);
  }
}

/** Ties the sentence with the problem to a field with a wrong value. */
function markInvalid(input: HTMLInputElement, invalid: boolean): void {
  input.setAttribute('aria-invalid', String(invalid));
  if (invalid) input.setAttribute('aria-describedby', 'page-wrong');
  else input.removeAttribute('aria-describedby');
}

/** Fills the examples, and lets readers enter their project. */
export function setUpReader(): void {
  fill();
  const form = document.querySelector<HTMLFormElement>('.reader');
  const wrong = form?.querySelector('.wrong');
  const saved = form?.querySelector('.saved');
  if (!form || !wrong || !saved) return;
  const field = (name: ValueName): HTMLInputElement | null => form.querySelector(`[name=${name}]`);
  for (const name of valueNames) {
    const input = field(name);
    if (input) input.value = browserStorage.get(key(name)) ?? '';
  }
  const say = (problem: string, success: string): void => {
    wrong.textContent = problem;
    saved.textContent = success;
  };
  const store = (values: Record<ValueName, string>): void => {
    for (const name of valueNames) browserStorage.set(key(name), values[name]);
    fill();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = { project_id: '', api_key: '' };
    let problem = '';
    for (const name of valueNames) {
      const input = field(name);
      values[name] = input?.value.trim() ?? '';
      const found = checkValue(name, values[name]);
      if (input) markInvalid(input, found !== '');
      if (found && !problem) {
        problem = found;
        input?.focus();
      }
      // A secret is neither stored nor left on the screen.
      if (input && isSecret(values[name])) input.value = '';
    }
    if (!problem) store(values);
    say(problem, problem ? '' : 'Saved in this browser.');
  });
  form.querySelector('[name=clear]')?.addEventListener('click', () => {
    for (const name of valueNames) {
      const input = field(name);
      if (!input) continue;
      input.value = '';
      markInvalid(input, false);
    }
    store({ project_id: '', api_key: '' });
    say('', 'Cleared.');
  });
}
