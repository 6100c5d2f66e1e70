const link = /\[([^\]]+)\]\(([^)\s]+)\)/g;
const guide = /^docs\/api\/([a-z0-9]+\.md(?:#.*)?)$/;

/**
 * Returns the changelog of the repository as a guide. The names of versions have no brackets. Its links lead to guides; what the others lead to is on no
 * server, so that only their text stays.
 */
export function changelogGuide(markdown: string): string {
  return markdown.replace(/^## \[(.+?)\]/gm, '## $1').replace(link, (_, text: string, address: string) => {
    const name = guide.exec(address)?.[1];
    return name ? `[${text}](${name})` : text;
  });
}
