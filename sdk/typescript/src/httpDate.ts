const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const time = '(\\d{2}):(\\d{2}):(\\d{2})';
const imf = new RegExp(`^[A-Z][a-z]{2}, (\\d{2}) ([A-Z][a-z]{2}) (\\d{4}) ${time} GMT$`);
const rfc850 = new RegExp(`^[A-Z][a-z]+, (\\d{2})-([A-Z][a-z]{2})-(\\d{2}) ${time} GMT$`);
const asctime = new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \\d]\\d) ${time} (\\d{4})$`);

/**
 * Parses a date of HTTP in its three forms (RFC 9110, section 5.6.7). Returns Unix time in milliseconds, or null.
 * Date.parse is of no use here, because it also reads "5" and takes the form of asctime for a local time.
 */
export function parseHttpDate(text: string): number | null {
  const long = imf.exec(text) ?? rfc850.exec(text);
  if (long) {
    const [, day, month, year, hour, minute, second] = long;
    return unixTime(fullYear(year), month, day, hour, minute, second);
  }
  const short = asctime.exec(text);
  if (short) {
    const [, month, day, hour, minute, second, year] = short;
    return unixTime(Number(year), month, day, hour, minute, second);
  }
  return null;
}

/** Returns the year of a text with two or four digits: 70 is 1970, and 69 is 2069. */
function fullYear(text = ''): number {
  const year = Number(text);
  if (text.length > 2) return year;
  return year < 70 ? 2000 + year : 1900 + year;
}

function unixTime(year: number, month = '', day = '', hour = '', minute = '', second = ''): number | null {
  const index = months.indexOf(month);
  const milliseconds = Date.UTC(year, index, Number(day), Number(hour), Number(minute), Number(second));
  return index < 0 || Number.isNaN(milliseconds) ? null : milliseconds;
}
