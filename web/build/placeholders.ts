/** What a placeholder in the code of a guide shows until the page replaces it with the value of the reader. */
const placeholders: Record<string, string> = {
  base_url: 'https://meet.example.org',
  project_id: '{{project_id}}',
  api_key: '{{api_key}}',
};

const placeholder = /\{\{([a-z_]+)\}\}/g;

// A word, because the highlighter splits braces into several elements.
const mark = (name: string) => `zz${name.replaceAll('_', '')}zz`;

/** Returns code with a word for each placeholder. It throws an error if the page knows no such value. */
export function markPlaceholders(code: string): string {
  return code.replace(placeholder, (token, name: string) => {
    if (name in placeholders) return mark(name);
    throw new Error(`there is no placeholder ${token}, use one of ${Object.keys(placeholders).join(', ')}`);
  });
}

/** Replaces the words of markPlaceholders in HTML with elements that the page fills. */
export function renderPlaceholders(html: string): string {
  for (const [name, text] of Object.entries(placeholders)) {
    html = html.replaceAll(mark(name), `<span class="value" data-value="${name}">${text}</span>`);
  }
  return html;
}

/** Returns Markdown with the example address of a server. The other placeholders stay. */
export function fillBaseURL(markdown: string): string {
  return markdown.replaceAll('{{base_url}}', placeholders.base_url ?? '');
}
