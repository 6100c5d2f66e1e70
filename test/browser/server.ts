import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { type EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const binary = resolve(import.meta.dirname, '../../bin/parley');

export interface Room {
  room_id: string;
  final_link: string;
  guest_link: string;
}

interface Answer {
  status: number;
  /** The error code, if the request was refused. */
  code: string;
  reason: string | undefined;
  state: string | undefined;
  /** The number of participants in a preview. */
  participants: number | undefined;
  /** Whether a preview says that a host has to admit the visitor. */
  waits: boolean | undefined;
}

/** How often a request is repeated that the server could not serve in time. */
export const maxAgain = 5;

/**
 * Sends a request, again if the disk of this machine is so slow that the server could not serve it in time. The server may have made the
 * change of a request all the same, so it may be made twice.
 */
export async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  let response = await fetch(url, init);
  for (let again = 0; response.status === 503 && again < maxAgain; again++) {
    await pause(1000 * Number(response.headers.get('retry-after') ?? 1));
    response = await fetch(url, init);
  }
  return response;
}

/** The built server on free ports, with a data directory of its own. */
export class Server {
  /** The servers that were started and not closed. */
  static readonly running = new Set<Server>();

  #process: ChildProcess | undefined;
  #log = '';
  /** The settings of the project that were changed, each with an empty value, which sets the default. */
  readonly #changed = new Set<string>();
  #hasLogo = false;
  readonly dataDir = mkdtempSync(join(tmpdir(), 'parley-'));

  private constructor(
    readonly url: string,
    readonly udpPort: number,
    /** The address of the pages. */
    readonly publicURL = url,
  ) {
    Server.running.add(this);
  }

  static start(...flags: string[]): Promise<Server> {
    return Server.startOn('127.0.0.1', ...flags);
  }

  /** Starts a server on another address of this machine. */
  static async startOn(address: string, ...flags: string[]): Promise<Server> {
    const server = new Server(`http://${address}:${await freeTCPPort()}`, await freeUDPPort(address));
    await server.up(...flags);
    return server;
  }

  /** Starts a server whose pages are at localhost, as its public URL says. */
  static async startAtLocalhost(...flags: string[]): Promise<Server> {
    const server = new Server(`http://localhost:${await freeTCPPort()}`, await freeUDPPort('127.0.0.1'));
    await server.up('--public-url', server.url, ...flags);
    return server;
  }

  /**
   * Starts a server with HTTPS and a certificate of the tests, which nobody trusts: the browser needs
   * the flag `--ignore-certificate-errors`, and this process NODE_TLS_REJECT_UNAUTHORIZED=0. TCP and UDP have the same
   * port number, as on a server that uses only port 443.
   */
  static async startSecure(...flags: string[]): Promise<Server> {
    const port = await freePort();
    const server = new Server(`https://localhost:${port}`, port);
    const folder = resolve(import.meta.dirname, 'certificate');
    const files = ['--tls-cert-file', join(folder, 'cert.pem'), '--tls-key-file', join(folder, 'key.pem')];
    await server.up('--public-url', server.url, ...files, ...flags);
    return server;
  }

  /** Starts a node with HTTPS and the same certificate, behind a load balancer. */
  static async startSecureNode(publicURL: string, ...flags: string[]): Promise<Server> {
    const server = new Server(`https://localhost:${await freeTCPPort()}`, await freeUDPPort('127.0.0.1'), publicURL);
    const folder = resolve(import.meta.dirname, 'certificate');
    const files = ['--tls-cert-file', join(folder, 'cert.pem'), '--tls-key-file', join(folder, 'key.pem')];
    await server.up('--public-url', publicURL, ...files, ...flags);
    return server;
  }

  /** Starts a server with HTTPS on another address of this machine, with a name and a certificate for it. */
  static async startSecureOn(address: string, name: string, cert: string, key: string): Promise<Server> {
    const port = await freeTCPPort();
    const server = new Server(`https://${address}:${port}`, await freeUDPPort(address), `https://${name}:${port}`);
    await server.up('--public-url', server.publicURL, '--tls-cert-file', cert, '--tls-key-file', key, '--rtc-node-ip', address);
    return server;
  }

  /** Starts the process, again or for the first time, and waits until it is healthy. */
  async up(...flags: string[]): Promise<void> {
    const address = this.url.replace(/https?:\/\//, '').replace('localhost', '127.0.0.1');
    const child = spawn(binary, [
      'serve',
      '--listen',
      address,
      '--data-dir',
      this.dataDir,
      '--rtc-udp-port',
      String(this.udpPort),
      ...flags,
    ]);
    child.stdout.on('data', (chunk: Buffer) => (this.#log += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.#log += chunk.toString()));
    this.#process = child;
    const deadline = Date.now() + 60_000;
    while (Date.now() < deadline) {
      const healthy = await fetch(`${this.url}/healthz`).then(
        (r) => r.ok,
        () => false,
      );
      if (healthy) return;
      if (child.exitCode !== null) break;
      await pause(25);
    }
    throw new Error(`the server did not start:\n${this.#log}`);
  }

  /** Ends the process with a signal and returns its exit status. */
  async down(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
    return child.exitCode;
  }

  /** Kills the service alone; its supervisor starts it again. */
  crash(): void {
    process.kill(this.#service(), 'SIGKILL');
  }

  /** Makes the process stand still, as on a machine that is paused. Returns a function that wakes it. */
  suspend(): () => void {
    const all = [Number(this.#process?.pid), this.#service()];
    for (const pid of all) process.kill(pid, 'SIGSTOP');
    return () => {
      for (const pid of all) process.kill(pid, 'SIGCONT');
    };
  }

  /** The process id of the service, which the supervisor has started. */
  #service(): number {
    // Any thread of the supervisor may have started it.
    const threads = `/proc/${String(this.#process?.pid)}/task`;
    const service = readdirSync(threads).flatMap((thread) => readFileSync(join(threads, thread, 'children'), 'utf8').match(/\d+/g) ?? []);
    if (service.length !== 1) throw new Error(`the supervisor has ${service.length} processes`);
    return Number(service[0]);
  }

  async close(): Promise<void> {
    Server.running.delete(this);
    await this.down('SIGKILL');
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  get log(): string {
    return this.#log;
  }

  /** The links that --demo printed for the room of a type. */
  demo(type: 'audio' | 'video'): { host: string; guest: string } {
    const [, host, guest] = new RegExp(`${type} room\\n    host   (\\S+)\\n    guest  (\\S+)\\n`).exec(this.#log) ?? [];
    if (!host || !guest) throw new Error(`no ${type} room was printed:\n${this.#log}`);
    return { host, guest };
  }

  get quickstart(): Record<string, string> {
    return JSON.parse(readFileSync(join(this.dataDir, 'quickstart.json'), 'utf8')) as Record<string, string>;
  }

  /** Changes settings of the project, as its operator does, until resetSettings. */
  set(...settings: string[]): void {
    // Before the change, because a command that fails may have made it.
    for (const setting of settings) this.#changed.add(setting.replace(/=.*/s, '='));
    this.#project('set', ...settings);
  }

  /** Sets the logo of the project to an image, until resetSettings. */
  setLogo(image: Buffer): void {
    const file = join(this.dataDir, 'logo');
    writeFileSync(file, image);
    this.#hasLogo = true;
    this.#project('logo', file);
  }

  /** Gives the settings that tests have changed their defaults, and removes the logo. */
  resetSettings(): void {
    if (this.#changed.size > 0) this.#project('set', ...this.#changed);
    this.#changed.clear();
    if (this.#hasLogo) this.#project('logo', '--remove');
    this.#hasLogo = false;
  }

  #project(command: string, ...args: string[]): void {
    execFileSync(binary, ['project', command, this.quickstart.project_id ?? '', ...args, '--data-dir', this.dataDir]);
  }

  /** Creates a quick audio room as an integrator does. */
  createRoom(fields: { max_participants?: number; empty_timeout?: number; metadata?: object } = {}): Promise<Room> {
    return this.#create('v3/rooms/create_quick_audio_room', { name: 'Amina', ...fields });
  }

  /** Schedules an audio room: version 3 takes starts to the second. */
  schedule(start: Date): Promise<Room> {
    return this.#create('v3/rooms/create_schedule_audio_room', { start_at: start.toISOString() });
  }

  /** Schedules a video room with features of version 4. Without a start, it is open. */
  async createMeeting(
    features: { minutes?: number; breakouts?: number },
    fields: { logout_url?: string; start?: Date; title?: string; metadata?: object } = {},
  ): Promise<Room> {
    const { start = await currentMinute(), title = 'Workshop', ...others } = fields;
    return this.#create('v4/rooms/create_schedule_video_room', {
      name: 'Amina',
      external_user_id: 'amina',
      start_at: start.toISOString().slice(0, 16),
      metadata: {
        room_title: title,
        welcome_message: '',
        room_features: {
          ...(features.minutes && { room_duration: features.minutes }),
          breakout_room_features: { allowed_number_rooms: features.breakouts ?? 0 },
        },
      },
      ...others,
    });
  }

  /** Returns a link into a room that a backend has signed itself, for one hour. */
  signedLink(roomId: string, claims: object): string {
    const { project_secret } = this.quickstart;
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ room_id: roomId, iat, exp: iat + 3600, ...claims })}`;
    const signature = createHmac('sha256', project_secret ?? '')
      .update(signed)
      .digest('base64url');
    return `${this.url}/r/${roomId}#j=${signed}.${signature}`;
  }

  async #create(route: string, fields: object): Promise<Room> {
    const { project_id, api_key } = this.quickstart;
    const body = JSON.stringify({
      project_id,
      max_participants: 10,
      empty_timeout: 300,
      metadata: { room_title: 'Standup', welcome_message: 'Good morning.\nCoffee is ready.' },
      ...fields,
    });
    const answer = await fetchAgain(`${this.url}/api/${route}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'hash-signature': createHmac('sha256', api_key ?? '')
          .update(body)
          .digest('base64'),
      },
      body,
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    const room = (await answer.json()) as Omit<Room, 'guest_link'>;
    return { ...room, guest_link: `${this.publicURL}/r/${room.room_id}` };
  }

  /** Calls a companion route, as a client's backend does; the command line signs with the time. */
  request<T>(route: string, body: object): T {
    const answer = execFileSync(binary, [
      'request',
      'POST',
      `/api/v4/rooms/${route}`,
      '--url',
      this.url,
      '--data-dir',
      this.dataDir,
      '--body',
      JSON.stringify(body),
    ]);
    return JSON.parse(answer.toString()) as T;
  }

  /** Calls the join API without the page and returns the response. */
  async ask(roomID: string, path: string, body: object): Promise<Answer> {
    const answer = await fetch(`${this.url}/api/join/rooms/${roomID}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const { error, state, participants, you } = (text === '' ? {} : JSON.parse(text)) as {
      error?: { code: string; reason?: string };
      state?: string;
      participants?: number;
      you?: { waits: boolean };
    };
    return { status: answer.status, code: error?.code ?? '', reason: error?.reason, state, participants, waits: you?.waits };
  }

  /** Returns why a room has ended, or nothing while it has not, as the page reads it. */
  async endReason(roomID: string): Promise<string | undefined> {
    return (await this.ask(roomID, 'preview', {})).reason;
  }

  /** Returns the number of participants of a room, as the page reads it. */
  async participants(roomID: string): Promise<number | undefined> {
    return (await this.ask(roomID, 'preview', {})).participants;
  }
}

/** Waits until the next time of a length is within one minute or one day of UTC, the period. Both are in milliseconds. */
export async function withinOne(period: number, length: number): Promise<void> {
  const left = period - (Date.now() % period);
  if (left < length) await pause(left + 10);
}

/** The current minute. Version 4 takes starts to the minute and refuses one that is over, so near its end the next one is waited for. */
async function currentMinute(): Promise<Date> {
  await withinOne(60_000, 5_000);
  return new Date();
}

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. */
export const freeTCPPort = (): Promise<number> => pickPort(isFreeTCP);

/** Returns a port number that is free for TCP and for UDP. */
const freePort = (): Promise<number> => pickPort(async (port) => (await isFreeTCP(port)) && isFreeUDP(port));

const freeUDPPort = (address: string): Promise<number> => pickPort((port) => isFreeUDP(port, address));

/**
 * Returns a port that is free. The system gives none of these ports to sockets that ask for any port, such as those of the
 * browsers, so a port stays free until it is used, and while its server restarts.
 */
async function pickPort(isFree: (port: number) => Promise<boolean>): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error('none of 100 ports is free');
}

const isFreeTCP = (port: number): Promise<boolean> => opens(createServer().listen(port, '127.0.0.1'));

const isFreeUDP = (port: number, address = '127.0.0.1'): Promise<boolean> => opens(createSocket('udp4').bind(port, address));

/** Closes a socket again, and reports whether it has its port. It is false if another socket has that. */
async function opens(socket: EventEmitter & { close(): unknown }): Promise<boolean> {
  try {
    await once(socket, 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw new Error('a socket does not open', { cause });
  }
  socket.close();
  await once(socket, 'close');
  return true;
}
