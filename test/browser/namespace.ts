import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { chromiumPath, fakeDevices, launch } from './browser';

const ip = (...args: string[]): string => execFileSync('ip', args, { stdio: 'pipe', encoding: 'utf8' });
const tc = (...args: string[]): void => void execFileSync('tc', args, { stdio: 'pipe' });

/** How a network fails: its interface goes down, or every packet is dropped without a sign. */
export const faults = ['link down', 'packets dropped'] as const;
export type Fault = (typeof faults)[number];

/** A network namespace of Linux with one link to this machine. No other machine is reachable from it. */
export class Namespace {
  /** The address of this machine on the link. */
  readonly machine = '10.213.7.1';
  readonly #own = '10.213.7.2';
  readonly #name = `parley-${process.pid}`;
  readonly #link = `parley${process.pid}`.slice(0, 15);
  /** Has the script that starts the browser. */
  #directory: string | undefined;

  /** Creates the namespace. Throws if the tests may not do this. */
  constructor() {
    removeLeftovers();
    ip('netns', 'add', this.#name);
    try {
      ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.#name);
      ip('address', 'add', `${this.machine}/30`, 'dev', this.#link);
      ip('link', 'set', this.#link, 'up');
      ip('-n', this.#name, 'address', 'add', `${this.#own}/30`, 'dev', 'eth0');
      ip('-n', this.#name, 'link', 'set', 'lo', 'up');
      this.#linkUp();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the tests may create a namespace here: as root on Linux, with iproute2. */
  static get available(): boolean {
    try {
      new Namespace().close();
      return true;
    } catch {
      return false;
    }
  }

  /** Starts a browser in the namespace. It may use its devices on pages of the origin. */
  launch(origin: string): Promise<Browser> {
    this.#directory ??= mkdtempSync(join(tmpdir(), 'parley-'));
    const script = join(this.#directory, 'chromium');
    writeFileSync(script, `#!/bin/sh\nexec ip netns exec ${this.#name} '${chromiumPath}' "$@"\n`, { mode: 0o700 });
    return launch([...fakeDevices, trust(origin)], script);
  }

  begin(fault: Fault): void {
    if (fault === 'link down') {
      ip('-n', this.#name, 'link', 'set', 'eth0', 'down');
    } else {
      tc('qdisc', 'add', 'dev', this.#link, 'root', 'blackhole');
      tc('-n', this.#name, 'qdisc', 'add', 'dev', 'eth0', 'root', 'blackhole');
    }
  }

  end(fault: Fault): void {
    if (fault === 'link down') {
      this.#linkUp();
    } else {
      tc('qdisc', 'delete', 'dev', this.#link, 'root');
      tc('-n', this.#name, 'qdisc', 'delete', 'dev', 'eth0', 'root');
    }
  }

  #linkUp(): void {
    ip('-n', this.#name, 'link', 'set', 'eth0', 'up');
    ip('-n', this.#name, 'route', 'add', 'default', 'via', this.machine);
  }

  close(): void {
    // Deleting a link removes both of its ends at once. The kernel removes what is left in a deleted namespace only
    // later, and a namespace created meanwhile would find a link of this name.
    if (existsSync(`/sys/class/net/${this.#link}`)) ip('link', 'delete', this.#link);
    ip('netns', 'delete', this.#name);
    if (this.#directory) rmSync(this.#directory, { recursive: true });
  }
}

/** Removes the namespaces of test runs that were killed, because their links have the same addresses. */
function removeLeftovers(): void {
  for (const [name, pid] of ip('netns', 'list').matchAll(/^parley-(\d+)/gm)) {
    if (!existsSync(`/proc/${pid}`)) ip('netns', 'delete', name);
  }
}

/** Makes Chromium treat an origin without TLS like localhost. */
export const trust = (origin: string): string => `--unsafely-treat-insecure-origin-as-secure=${origin}`;
