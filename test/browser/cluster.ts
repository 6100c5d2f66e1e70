import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freeTCPPort } from './server';

/** What several nodes share: a PostgreSQL and a Redis of this test's own. */
export class Shared {
  readonly #dir = mkdtempSync(join(tmpdir(), 'parley-shared-'));
  readonly #processes: ChildProcess[] = [];
  databaseURL = '';
  redisURL = '';

  static async start(): Promise<Shared> {
    const shared = new Shared();
    const [postgres, redis] = await Promise.all([freeTCPPort(), freeTCPPort()]);
    shared.#redis(redis);
    shared.#postgres(postgres);
    await Promise.all([listening(postgres), listening(redis)]);
    return shared;
  }

  #redis(port: number): void {
    const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', this.#dir];
    this.#processes.push(spawn('redis-server', flags, { stdio: 'ignore' }));
    this.redisURL = `redis://127.0.0.1:${port}/0`;
  }

  // PostgreSQL refuses to run as root: then it runs as Debian's postgres.
  #postgres(port: number): void {
    const debian = '/usr/lib/postgresql';
    const bin = join(debian, readdirSync(debian).sort().at(-1) ?? '', 'bin');
    const asOther = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
    const [program = '', ...args] = [...asOther, join(bin, 'initdb'), '-D', join(this.#dir, 'pg'), '-U', 'parley', '-A', 'trust', '-N'];
    if (asOther.length > 0) execFileSync('chown', ['postgres', this.#dir]);
    execFileSync(program, args, { stdio: 'ignore' });
    const [run = '', ...flags] = [
      ...asOther,
      join(bin, 'postgres'),
      ...['-D', join(this.#dir, 'pg'), '-p', String(port), '-k', this.#dir, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'],
    ];
    this.#processes.push(spawn(run, flags, { stdio: 'ignore' }));
    this.databaseURL = `postgres://parley@127.0.0.1:${port}/postgres`;
  }

  async close(): Promise<void> {
    for (const p of this.#processes) {
      if (p.exitCode !== null) continue;
      const gone = once(p, 'exit');
      p.kill('SIGTERM');
      await gone;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function listening(port: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await pause(25)) {
    const socket = connect(port, '127.0.0.1');
    const up = await new Promise<boolean>((done) => socket.once('connect', () => done(true)).once('error', () => done(false)));
    socket.destroy();
    if (up) return;
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** One address before several: each connection goes to the next that takes it. */
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
      for (const [from, to] of [[client, server], [server, client]] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
