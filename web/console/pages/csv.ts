/**
 * Returns rows as RFC 4180 CSV. What a spreadsheet would read as a formula gets an apostrophe, also
 * after a semicolon, at which some languages separate cells, after quotes, and in full-width characters.
 */
export function toCSV(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

function field(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[+-]\d+(\.\d+)?$/.test(value) ? value : value.replace(/((?:^|[;\t\r\n])[ "]*)(?=[=+\-@＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves rows as a file. The byte order mark makes Excel read it as UTF-8. */
export function downloadCSV(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const url = URL.createObjectURL(new Blob(['\uFEFF', toCSV(rows)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
