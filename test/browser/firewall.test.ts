import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath, fakeDevices, launch, Person } from './browser';
import { Firefox } from './firefox';
import { binary, freeTCPPort, Server } from './server';
import { useOnly } from './ways';

/** The name of the server, because Firefox accepts TURN over TLS only with a name. */
const host = 'meet.example.test';

/** A network namespace is a network of its own on this machine. It reaches the machine at `machine`. */
const namespace = 'parley-test';
const machine = '10.77.0.1';
const inNamespace = ['ip', 'netns', 'exec', namespace];

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

/** Creates the namespace. Its packets of UDP go to a device that drops them, as in a strict firewall. */
function createNamespace(): void {
  removeNamespace();
  // The programs in the namespace read this file as /etc/hosts.
  mkdirSync(`/etc/netns/${namespace}`, { recursive: true });
  writeFileSync(`/etc/netns/${namespace}/hosts`, `${machine} ${host}\n`);
  ip('netns', 'add', namespace);
  ip('link', 'add', 'parley0', 'type', 'veth', 'peer', 'name', 'parley1', 'netns', namespace);
  ip('addr', 'add', `${machine}/30`, 'dev', 'parley0');
  ip('link', 'set', 'parley0', 'up');
  for (const command of [
    'addr add 10.77.0.2/30 dev parley1',
    'link set parley1 up',
    'link set lo up',
    'link add drop type veth peer name void',
    'link set drop up',
    'link set void up',
    'route add default dev drop table 100',
    'rule add ipproto udp table 100',
  ])
    ip('-n', namespace, ...command.split(' '));
}

function removeNamespace(): void {
  for (const command of [`netns del ${namespace}`, 'link del parley0']) {
    try {
      ip(...command.split(' '));
    } catch {
      // It does not exist.
    }
  }
  rmSync(`/etc/netns/${namespace}`, { recursive: true, force: true });
}

describe.skipIf(process.getuid?.() !== 0)('behind a firewall (needs root for a network namespace)', () => {
  let folder: string;
  let authority: string;
  let server: Server | undefined;
  let outside: Browser | undefined;

  /** Makes an authority and a certificate of it, because Firefox trusts no certificate that is both. */
  function makeCertificate(): void {
    const make = (name: string, ...options: string[]): void => {
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name === 'ca' ? 'ca-key' : 'key'}.pem`];
      execFileSync('openssl', ['req', '-x509', ...key, '-days', '90', '-out', `${name}.pem`, ...options], { cwd: folder, stdio: 'pipe' });
    };
    make('ca', '-subj', '/CN=Parley test authority');
    make(
      ...(['cert', '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-subj', '/CN=Parley test'] as const),
      ...['-addext', `subjectAltName=DNS:${host}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
    );
  }

  beforeAll(async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    folder = mkdtempSync(join(tmpdir(), 'parley-firewall-'));
    authority = join(folder, 'ca.pem');
    createNamespace();
    makeCertificate();
    server = await Server.startSecureOn(machine, host, join(folder, 'cert.pem'), join(folder, 'key.pem'));
    outside = await launch([...fakeDevices, ...trusting]);
  });

  afterAll(async () => {
    await outside?.close();
    await server?.close();
    removeNamespace();
    rmSync(folder, { recursive: true });
    vi.unstubAllEnvs();
  });

  const trusting = ['--ignore-certificate-errors', `--host-resolver-rules=MAP ${host} ${machine}`];

  /** Has Amina, who is outside, open a room. Returns her and the link for a guest. */
  async function openRoom(): Promise<[amina: Person, link: string]> {
    if (!server || !outside) throw new Error('the server or the browser did not start');
    const room = await server.createRoom();
    const amina = await Person.arrive(outside);
    await amina.join(room.final_link);
    return [amina, room.guest_link];
  }

  /** Starts Chromium in the namespace. */
  async function launchInside(): Promise<Browser> {
    const wrapper = join(folder, 'chromium');
    writeFileSync(wrapper, `#!/bin/sh\nexec ${inNamespace.join(' ')} ${chromiumPath} "$@"\n`, { mode: 0o755 });
    return launch([...fakeDevices, ...trusting], wrapper);
  }

  test('that blocks UDP, people with Chromium meet', async () => {
    const inside = await launchInside();
    try {
      const [amina, link] = await openRoom();
      const ben = await Person.arrive(inside);
      await ben.join(link, 'Ben');
      await Promise.all([amina.untilHeard(), ben.untilHeard()]);
      await ben.button('More').click();
      await ben.button('Check connection and devices').click();
      await ben.page.getByText('Your network blocks UDP, so you’re connected over TCP.').waitFor();
      await amina.close();
    } finally {
      await inside.close();
    }
  });

  test('that blocks UDP, people with Firefox meet', async () => {
    const firefox = await Firefox.launch(machine, authority, await freeTCPPort(), inNamespace);
    try {
      const [amina, link] = await openRoom();
      await firefox.join(link, 'Ben');
      await amina.untilHeard();
      await untilReceived(firefox);
      await amina.close();
    } finally {
      await firefox.close();
    }
  });

  const programs: ChildProcessWithoutNullStreams[] = [];
  afterEach(() => {
    for (const program of programs.splice(0)) program.kill();
  });

  /** Runs parley doctor in the namespace, at most until the test ends. */
  function doctor(...args: string[]): ChildProcessWithoutNullStreams {
    const [command = '', ...before] = inNamespace;
    const program = spawn(command, [...before, binary, 'doctor', '--json', ...args], { env: { ...process.env, SSL_CERT_FILE: authority } });
    programs.push(program);
    return program;
  }

  /** Has the operator create a check. Returns its link, and what the operator sees when it has run. */
  async function invite(): Promise<{ link: string; reported: Promise<unknown[]> }> {
    const program = doctor('--invite', '--data-dir', server?.dataDir ?? '');
    const reported = collect(program);
    return { link: await untilPrinted(program, /https:\/\/\S+\/check#[\w-]+/), reported };
  }

  test('that blocks UDP, parley doctor says so on both machines', async () => {
    const { link, reported } = await invite();
    const media = [
      ['media_udp', ['udp_unreachable']],
      ['media_ice_tcp', true],
      ['media_turn_tcp', true],
      ['media_turn_tls', true],
    ];
    expect(await collect(doctor(link))).toEqual([['public_address', true], ['server_clock', true], ...media]);
    expect(await reported).toEqual(media);
  });

  test.each(['inside', 'outside'] as const)('a phone checks the connection, and the server gets the result: %s', async (where) => {
    const { link, reported } = await invite();
    const browser = where === 'inside' ? await launchInside() : await launch(trusting);
    try {
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      await page.goto(link);
      await page.getByRole('button', { name: 'Start the check' }).click();
      await page.getByText('The operator of the server can see this result.').waitFor({ timeout: 60_000 });
      const shown = await page.getByRole('listitem').allTextContents();
      if (where === 'inside') {
        // Chromium in this namespace has no DNS in which it could look up the TURN servers.
        expect(shown.filter((text) => !text.startsWith('TURN'))).toEqual(['UDP doesn’t work', 'ICE/TCP works']);
        expect((await reported).slice(0, 2)).toEqual([
          ['media_udp', ['udp_unreachable']],
          ['media_ice_tcp', true],
        ]);
      } else {
        expect(shown).toEqual(['UDP works', 'TURN/TCP works', 'TURN/TLS works']);
        expect(await reported).toEqual([
          ['media_udp', true],
          ['media_turn_tcp', true],
          ['media_turn_tls', true],
        ]);
      }
      await page.reload();
      await page.getByRole('button', { name: 'Start the check' }).click();
      await page.getByText('This link has been used or has expired.').waitFor();
    } finally {
      await browser.close();
    }
  });

  test.each(['udp', 'tcp', 'turn:', 'turns:'] as const)('people with Firefox meet over %s alone', async (way) => {
    const firefox = await Firefox.launch(machine, authority, await freeTCPPort());
    try {
      const [amina, link] = await openRoom();
      await firefox.open(link);
      await firefox.evaluate(useOnly, way);
      await firefox.enter('Ben');
      await amina.untilHeard();
      const ways = await untilReceived(firefox);
      expect(ways).not.toEqual([]);
      for (const found of ways) expect(found).toMatch({ udp: / udp$/, tcp: / tcp$/, 'turn:': /^relay tcp$/, 'turns:': /^relay tls$/ }[way]);
      await amina.close();
    } finally {
      await firefox.close();
    }
  });
});

/** Returns what a program prints to its standard error that matches a pattern. */
function untilPrinted({ stderr }: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const [match] = pattern.exec(text) ?? [];
      if (match) resolve(match);
    });
    stderr.on('end', () => reject(new Error(text)));
  });
}

/** Returns the results of parley doctor: the IDs of the findings of each check, or whether it is fine. */
async function collect(program: ChildProcessWithoutNullStreams): Promise<unknown[]> {
  let text = '';
  program.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(program, 'close');
  const { checks } = JSON.parse(text) as { checks: { check: string; detail?: string; findings?: { id: string }[] }[] };
  return checks.map(({ check, detail, findings }) => [check, findings?.map(({ id }) => id) ?? Boolean(detail)]);
}
/** Waits until Firefox plays the audio of another participant, and returns the ways of its connections. */
async function untilReceived(firefox: Firefox): Promise<string[]> {
  await firefox.until(`return [...document.querySelectorAll('audio')].some((a) => a.srcObject && a.currentTime > 0.5)`);
  return firefox.evaluateAsync<string[]>(`
    const [done] = arguments;
    Promise.all((window.connections ?? []).map((connection) => connection.getStats())).then((all) =>
      done(all.flatMap((stats) => {
        const pair = [...stats.values()].find((entry) => entry.type === 'candidate-pair' && entry.selected);
        const local = pair && stats.get(pair.localCandidateId);
        return local ? [local.candidateType + ' ' + (local.relayProtocol || local.protocol)] : [];
      })));`);
}
