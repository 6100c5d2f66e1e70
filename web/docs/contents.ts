/** How far down a heading may be when its section counts as the current one, as a part of the window's height. */
const readingLine = 0.3;

/** Marks the current section in the table of contents while the reader scrolls. */
export function setUpContents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a')];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length === 0) return;
  const mark = (): void => {
    const atEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const line = innerHeight * readingLine;
    const above = headings.filter((heading) => heading && heading.getBoundingClientRect().top < line);
    const current = (atEnd ? links.length : above.length) - 1;
    for (const [i, link] of links.entries()) {
      if (i === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  let waiting = false;
  const markSoon = (): void => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  addEventListener('scroll', markSoon, { passive: true });
  addEventListener('resize', markSoon, { passive: true });
  mark();
}
