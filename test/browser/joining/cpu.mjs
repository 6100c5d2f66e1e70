// Prints the processor time that pages take while they show a meeting in which
// everybody sends video, own picture included:
// node cpu.mjs '{"pages": {"page": …, "bare": …}, "bare": …, "tiles": 9}'
// with addresses of the same room. Each page is shown twice, in the order A B B A,
// in a new browser, alone; "control" is the first page's first time compared with
// its second. Time is of the process of the page, and of all of the browser's.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const { pages, bare, tiles } = JSON.parse(process.argv[2]);
/** The time in which a page opens its devices, joins and finds its layout. */
const settled = 5_000;
const slice = 20_000;
const ticksPerSecond = 100;

const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream',
    ],
  });

/** Has somebody join who only sends, small pictures, because they share the machine. */
async function send(browser) {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = () => ask({ audio: true, video: { width: 640, height: 360, frameRate: 15 } });
  });
  const tab = await context.newPage();
  await tab.goto(`${bare}#send`);
  await tab.click('button');
}

/** Returns the seconds of processor time that a process has used. */
function used(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number);
  return (user + system) / ticksPerSecond;
}

/** Shows a page and returns the share of a core that it takes. */
async function show(address) {
  const browser = await launch();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
    await context.grantPermissions(['microphone', 'camera']);
    const tab = await context.newPage();
    await tab.goto(address);
    await tab.click('button[type=submit]');
    await tab.waitForFunction(
      (wanted) => [...document.querySelectorAll('video')].filter((video) => video.videoWidth > 0).length >= wanted,
      tiles,
      { timeout: 120_000 }, // all senders begin to encode on the same machine
    );
    await pause(settled);
    const system = await browser.newBrowserCDPSession();
    const { processInfo } = await system.send('SystemInfo.getProcessInfo');
    const read = () => processInfo.map(({ id }) => used(id));
    const before = read();
    await pause(slice);
    const spent = read().map((now, i) => ((now - before[i]) * 1_000) / slice);
    const renderer = Math.max(...spent.filter((_, i) => processInfo[i].type === 'renderer'));
    return { renderer, all: spent.reduce((sum, share) => sum + share) };
  } finally {
    await browser.close();
  }
}

const senders = await launch();
try {
  for (let i = 1; i < tiles; i++) await send(senders);
  const names = Object.keys(pages);
  const shares = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of [...names, ...names.toReversed()]) shares[name].push(await show(pages[name]));
  console.log(JSON.stringify(shares));
} finally {
  await senders.close();
}
