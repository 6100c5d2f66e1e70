// Opens each link in a browser of its own, joins, and waits until all people see each other.
import { chromium } from '../browser/node_modules/playwright-core/index.mjs';

const links = process.argv.slice(2);
const args = ['--no-sandbox', '--use-fake-device-for-media-stream=fps=10', '--use-fake-ui-for-media-stream'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
const pages = [];
for (const link of links) {
  const context = await browser.newContext({ permissions: ['camera', 'microphone'], locale: 'en' });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Join', exact: true }).click({ timeout: 60_000 });
  pages.push(page);
}
for (const page of pages) await page.getByText(`${links.length} people`).first().waitFor({ timeout: 60_000 });
for (const page of pages) await page.locator('video').nth(1).waitFor({ timeout: 60_000 });
console.log('they see each other');
await browser.close();
