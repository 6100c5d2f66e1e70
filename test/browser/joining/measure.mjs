// Visits the room page and the bare page in turn and prints how long each visit
// took to the first sound and the first picture of somebody who is there:
// node measure.mjs '{"page": …, "bare": …, "pairs": …, "scenarios": …}', two
// addresses, an even number and names of ways. test/bench runs it and reads what
// it prints.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const { page, bare, pairs, scenarios } = JSON.parse(process.argv[2]);
const probe = readFileSync(join(import.meta.dirname, 'probe.js'), 'utf8');
const patience = 30_000;
/** The time in which the lobby prefetches files and opens the devices. */
const settled = 1_500;
/** The time in which the browser finishes opening a window, because a visitor who follows a link has one already. */
const opened = 1_000;
/** The time in which the previous visitor leaves. */
const between = 400;

/**
 * How somebody joins, and how many visits that takes for each that is asked for:
 * one visit differs from the next by a seventh where the machine decides, and by
 * a fiftieth where the network does.
 */
const ways = [
  { name: 'press', times: 2, atOnce: false, network: null },
  { name: 'cold', times: 3, atOnce: true, network: null },
  // A slow phone network, as page speed tests define it.
  { name: 'slow', times: 0.5, atOnce: true, network: { latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 1.6e6 / 8 } },
];

const launch = (...more) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', ...more,
    ],
  });

/** A continuous tone, because the default fake microphone beeps once a second. */
function tone() {
  const rate = 48_000;
  const wave = Buffer.alloc(44 + rate * 2);
  wave.write('RIFF', 0);
  wave.writeUInt32LE(36 + rate * 2, 4);
  wave.write('WAVEfmt ', 8);
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20);
  wave.writeUInt16LE(1, 22);
  wave.writeUInt32LE(rate, 24);
  wave.writeUInt32LE(rate * 2, 28);
  wave.writeUInt16LE(2, 32);
  wave.writeUInt16LE(16, 34);
  wave.write('data', 36);
  wave.writeUInt32LE(rate * 2, 40);
  for (let i = 0; i < rate; i++) wave.writeInt16LE(Math.round(12_000 * Math.sin((i * 2 * Math.PI * 440) / rate)), 44 + i * 2);
  return wave;
}

/** Joins the participant that visitors see and hear. It encodes little, because it shares the machine with them. */
async function first(browser) {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = () =>
      ask({
        audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
        video: { width: 640, height: 360, frameRate: 15 },
      });
  });
  const tab = await context.newPage();
  await tab.goto(bare);
  await tab.click('button');
  await pause(3_000);
}

/** Makes one visit with a new profile and returns the time of each step in milliseconds. */
async function visit(browser, address, { atOnce, network }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  try {
    await context.grantPermissions(['microphone', 'camera']);
    await context.addInitScript(`globalThis.joiningAtOnce = ${atOnce};\n${probe}`);
    const tab = await context.newPage();
    if (network) {
      const session = await context.newCDPSession(tab);
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
    }
    await pause(opened);
    await tab.goto(address, { waitUntil: 'commit' });
    if (!atOnce) {
      await tab.waitForSelector('button[type=submit]');
      await pause(settled);
      await tab.click('button[type=submit]');
    }
    const late = pause(patience).then(() => {
      throw new Error(`${address}: nobody was heard and seen within ${patience} ms`);
    });
    const at = await Promise.race([tab.evaluate(() => globalThis.joining), late]);
    const from = atOnce ? 0 : at.press;
    return Object.fromEntries(Object.entries(at).map(([what, when]) => [what, when - from]));
  } finally {
    await context.close();
    await pause(between);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'joining-'));
const browsers = [];
try {
  const sound = join(folder, 'tone.wav');
  writeFileSync(sound, tone());
  browsers.push(await launch(`--use-file-for-fake-audio-capture=${sound}`), await launch());
  const [sender, visitor] = browsers;
  await first(sender);
  const results = {};
  for (const way of ways.filter(({ name }) => scenarios.includes(name))) {
    // The start of the browser is the same for all visits, so it is not measured.
    for (const address of [page, bare]) await visit(visitor, address, way);
    const besides = { bare: { a: [], b: [] }, control: { a: [], b: [] } };
    for (let done = 0; done < pairs * way.times; done += 2) {
      for (const [beside, other] of [['bare', bare], ['control', page]]) {
        const { a, b } = besides[beside];
        a.push(await visit(visitor, page, way));
        b.push(await visit(visitor, other, way));
        b.push(await visit(visitor, other, way));
        a.push(await visit(visitor, page, way));
      }
    }
    results[way.name] = besides;
  }
  console.log(JSON.stringify(results));
} finally {
  await Promise.all(browsers.map((browser) => browser.close()));
  rmSync(folder, { recursive: true, force: true });
}
