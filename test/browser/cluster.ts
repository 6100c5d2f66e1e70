import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitLimit } from './browser';
import { freeTCPPort } from './server';

/** The PostgreSQL and the Redis that several nodes of a test share. */
export class Shared {
  readonly #dir = mkdtempSync(join(tmpdir(), 'parley-shared-'));
  readonly #cache: ChildProcess;
  readonly redisURL: string;
  databaseURL = '';

  private constructor(port: number) {
    this.#cache = spawn('redis-server', ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', this.#dir], {
      stdio: 'ignore',
    });
    this.redisURL = `redis://127.0.0.1:${port}/0`;
  }

  static async start(): Promise<Shared> {
    const redis = await freeTCPPort();
    const shared = new Shared(redis);
    shared.#postgres(await freeTCPPort());
    await listening(redis);
    return shared;
  }

  #postgres(port: number): void {
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', this.#dir]);
    this.#pg('initdb', '-D', join(this.#dir, 'pg'), '-U', 'parley', '-A', 'trust', '-N');
    const options = `-p ${port} -k ${this.#dir} -c listen_addresses=127.0.0.1 -c fsync=off`;
    this.#pg('pg_ctl', 'start', '-w', '-D', join(this.#dir, 'pg'), '-l', join(this.#dir, 'log'), '-o', options);
    this.databaseURL = `postgres://parley@127.0.0.1:${port}/postgres`;
  }

  // PostgreSQL refuses to run as root. In that case it runs as Debian's user postgres.
  #pg(program: string, ...args: string[]): void {
    const debian = '/usr/lib/postgresql';
    const path = join(debian, readdirSync(debian).sort().at(-1) ?? '', 'bin', program);
    const asOther = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
    const [run = '', ...flags] = [...asOther, path, ...args];
    execFileSync(run, flags, { stdio: 'ignore' });
  }

  async close(): Promise<void> {
    this.#pg('pg_ctl', 'stop', '-m', 'immediate', '-D', join(this.#dir, 'pg'));
    const gone = once(this.#cache, 'exit');
    this.#cache.kill('SIGKILL');
    await gone;
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function listening(port: number): Promise<void> {
  for (const deadline = Date.now() + waitLimit; Date.now() < deadline; await pause(25)) {
    const socket = connect(port, '127.0.0.1');
    const up = await new Promise<boolean>((done) => socket.once('connect', () => done(true)).once('error', () => done(false)));
    socket.destroy();
    if (up) return;
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** A load balancer: each connection goes to the next server that accepts it. */
export class Front {
  readonly #server: NetServer;
  readonly #sockets = new Set<Socket>();
  #next = 0;
  targets: string[] = [];

  private constructor(readonly url: string) {
    this.#server = createServer((client) => this.#forward(client, 0));
  }

  static async start(): Promise<Front> {
    const port = await freeTCPPort();
    const front = new Front(`http://127.0.0.1:${port}`);
    front.#server.listen(port, '127.0.0.1');
    await once(front.#server, 'listening');
    return front;
  }

  #forward(client: Socket, tried: number): void {
    const target = this.targets[this.#next++ % this.targets.length];
    if (!target || tried >= this.targets.length) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    const refused = () => this.#forward(client, tried + 1);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
