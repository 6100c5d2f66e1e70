import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { waitLimit } from './browser';

const preferences = {
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};

/** A process with a program whose standard input and output are ours. */
type Bridge = ChildProcessByStdio<Writable, Readable, null>;

/**
 * A person with Firefox as Debian ships it. Playwright needs a Firefox of its own, so this is a client
 * of Marionette, the protocol of Firefox for tests.
 */
export class Firefox {
  #received = Buffer.alloc(0);
  #calls = 0;
  readonly #answers = new Map<number, (answer: [error: unknown, result: unknown]) => void>();

  private constructor(
    private readonly browser: ReturnType<typeof spawn>,
    private readonly bridge: Bridge,
    private readonly profile: string,
  ) {
    bridge.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A call then gets no answer.
    for (const source of [browser, bridge, bridge.stdin]) source.on('error', () => undefined);
  }

  /**
   * Starts Firefox.
   *
   * @param address - The address of all host names.
   * @param authority - The file with the certificate that Firefox trusts, in PEM.
   * @param port - A free port of 127.0.0.1.
   * @param wrapper - A program with its arguments that runs another one, for example in a network namespace.
   */
  static async launch(address: string, authority: string, port: number, wrapper: readonly string[] = []): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'parley-firefox-'));
    const all = { ...preferences, 'network.dns.forceResolve': address, 'marionette.port': port };
    const lines = Object.entries(all).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(profile, 'user.js'), lines.join('\n'));
    const run = (...command: string[]): [string, string[]] => {
      const [program = '', ...rest] = [...wrapper, ...command];
      return [program, rest];
    };
    const browser = spawn(
      ...run('firefox-esr', '--headless', '--no-remote', '--marionette', '--remote-allow-system-access', '--profile', profile),
      {
        env: { ...process.env, HOME: profile },
        stdio: 'ignore',
      },
    );
    const script = `until exec 3<>/dev/tcp/127.0.0.1/${port}; do sleep 0.2; done 2>/dev/null; cat <&3 & cat >&3`;
    const bridge = spawn(...run('bash', '-c', script), { stdio: ['pipe', 'pipe', 'ignore'] });
    const firefox = new Firefox(browser, bridge, profile);
    try {
      await firefox.#start(authority);
    } catch (error) {
      await firefox.close();
      throw error;
    }
    return firefox;
  }

  async #start(authority: string): Promise<void> {
    await this.#greeted();
    await this.#call('WebDriver:NewSession', {});
    await this.#call('WebDriver:SetTimeouts', { script: waitLimit });
    await this.#call('Marionette:SetContext', { value: 'chrome' });
    const certificate = readFileSync(authority, 'utf8').replace(/-----[^-]+-----|\s/g, '');
    await this.#call('WebDriver:ExecuteScript', {
      script: `Cc['@mozilla.org/security/x509certdb;1'].getService(Ci.nsIX509CertDB).addCertFromBase64(arguments[0], 'CTu,CTu,CTu')`,
      args: [certificate],
    });
    await this.#call('Marionette:SetContext', { value: 'content' });
  }

  open(url: string): Promise<unknown> {
    return this.#call('WebDriver:Navigate', { url });
  }

  /** Runs the body of a function in the page, and returns its result. */
  async evaluate<Result>(body: string, ...args: unknown[]): Promise<Result> {
    const { value } = (await this.#call('WebDriver:ExecuteScript', { script: body, args, sandbox: null })) as { value: Result };
    return value;
  }

  /** Runs the body of a function that calls its last argument with the result. */
  async evaluateAsync<Result>(body: string): Promise<Result> {
    const { value } = (await this.#call('WebDriver:ExecuteAsyncScript', { script: body, args: [], sandbox: null })) as {
      value: Result;
    };
    return value;
  }

  /** Waits until the body of a function returns something in the page. */
  async until<Result>(body: string, ...args: unknown[]): Promise<Result> {
    const end = Date.now() + waitLimit;
    while (Date.now() < end) {
      const value = await this.evaluate<Result | null>(body, ...args);
      if (value) return value;
      await pause(200);
    }
    throw new Error(`Firefox: no result within ${waitLimit} ms of ${body}`);
  }

  /** Clicks a button by its text or its label, once it is there. */
  async click(name: string): Promise<void> {
    await this.until(
      `const found = [...document.querySelectorAll('button')].find((b) => b.getAttribute('aria-label') === arguments[0] || b.textContent.trim() === arguments[0]);
       found?.click(); return found !== undefined;`,
      name,
    );
  }

  /** Joins with a link. */
  async join(link: string, name: string): Promise<void> {
    await this.open(link);
    await this.enter(name);
  }

  /** Joins from the lobby, which is open. */
  async enter(name: string): Promise<void> {
    await this.until(
      `const field = document.querySelector('input');
       if (!field) return false;
       Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, arguments[0]);
       field.dispatchEvent(new Event('input', { bubbles: true }));
       return true;`,
      name,
    );
    await this.click('Join');
  }

  async close(): Promise<void> {
    this.bridge.kill('SIGKILL');
    if (this.browser.pid !== undefined && this.browser.exitCode === null && this.browser.signalCode === null) {
      const ended = once(this.browser, 'exit');
      this.browser.kill('SIGKILL');
      await ended;
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Waits for the first message, which has no number. */
  #greeted(): Promise<unknown> {
    return this.#answer(0);
  }

  async #call(command: string, parameters: object): Promise<unknown> {
    const message = JSON.stringify([0, ++this.#calls, command, parameters]);
    const answer = this.#answer(this.#calls);
    this.bridge.stdin.write(`${Buffer.byteLength(message)}:${message}`);
    return answer;
  }

  #answer(n: number): Promise<unknown> {
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`Firefox does not answer call ${n}`)), 2 * waitLimit);
      this.#answers.set(n, ([error, result]) => {
        clearTimeout(late);
        if (error) fail(new Error(`Firefox: ${JSON.stringify(error)}`));
        else done(result);
      });
    });
  }

  /** Reads messages, each with its length before it. */
  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const colon = this.#received.indexOf(':');
      const end = colon + 1 + Number(this.#received.subarray(0, colon).toString());
      if (colon < 0 || this.#received.length < end) return;
      const message = JSON.parse(this.#received.subarray(colon + 1, end).toString()) as unknown;
      this.#received = this.#received.subarray(end);
      const [, n, error, result] = Array.isArray(message) ? (message as [number, number, unknown, unknown]) : [1, 0, null, message];
      this.#answers.get(n)?.([error, result]);
    }
  }
}
