/** How long a button says that it has copied, in milliseconds. */
const confirmation = 2000;

/** Copies a text. Pages without TLS have no clipboard, so that these copy what is selected. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr-only';
  document.body.append(field);
  field.focus({ preventScroll: true });
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  return copied;
}

/** Adds a button to each code block that copies the text as it is shown. */
export function setUpCopyButtons(): void {
  const status = document.createElement('p');
  status.className = 'sr-only';
  status.setAttribute('role', 'status');
  document.body.append(status);
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    let timer = 0;
    button.addEventListener('click', async () => {
      const copied = await copy(block.querySelector('code')?.textContent ?? '');
      button.textContent = copied ? 'Copied' : 'Not copied';
      status.textContent = button.textContent;
      button.focus({ preventScroll: true });
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        button.textContent = 'Copy';
        status.textContent = '';
      }, confirmation);
    });
    block.append(button);
  }
}
