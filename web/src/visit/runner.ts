import type { JoinApi, Preview } from '../api/client';
import { ServerClock } from '../lib/clock';
import type { Lazy } from '../lib/lazy';
import { Store } from '../lib/store';
import type { Studio } from '../media/studio';
import type { RoomModule, Session } from '../room';
import type { Route } from '../route';
import { reduce } from './reduce';
import { opening, type Arrival, type Event, type Visit } from './state';
import { taskOf, type Task } from './task';

export interface Inside {
  module: RoomModule;
  session: Session;
}

export interface Snapshot {
  visit: Visit;
  /** The media connection that is shown; kept while the page comes back, so that nobody vanishes. */
  inside: Inside | null;
  /** A question to the server how it stands is on its way, not merely planned. */
  asking: boolean;
}

export interface Means {
  route: Route;
  api: JoinApi;
  seatKey: Promise<string>;
  /** What the key will most likely be. */
  likelyKey: string;
  /** Whether another tab of this browser was in the room with that key at first. */
  rival: Promise<boolean>;
  studio: Studio;
  room: Lazy<RoomModule>;
}

/** What came of a task; `inside` is a connection that was made. */
interface Outcome {
  event: Event;
  inside?: Inside;
}

interface Running {
  key: string;
  abort: AbortController;
  hurry: () => void;
}

/** Carries out what the state asks for, and tells the state what came of it. */
export class Runner {
  readonly store = new Store<Snapshot>({ visit: opening, inside: null, asking: false });
  readonly clock = new ServerClock();
  readonly #means: Means;
  /** The link's token, until the visitor comes in as a guest without it. */
  #link: string | null;
  /** The seat key; before it is certain, what it will most likely be. */
  #key: string;
  #task: Running | null = null;

  constructor(means: Means) {
    this.#means = means;
    this.#key = means.likelyKey;
    this.#link = means.route.link;
    window.addEventListener('online', this.hurry);
    // Timers of a hidden tab sleep long; somebody who looks should not wait for them.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.hurry();
    });
  }

  start(): void {
    this.#follow();
  }

  readonly dispatch = (event: Event): void => this.#apply({ event });

  #apply({ event, inside }: Outcome): void {
    const before = this.store.get();
    const next = reduce(before.visit, event, Date.now());
    if (next === before.visit) return;
    if (event.type === 'asGuest') this.#link = null;
    this.#patch({ visit: next, ...(inside && { inside }) });
    // Who moves stays in the old place until they are in the new one.
    if (inside) before.inside?.session.leave();
    this.#tidy(next);
    if (next.at === 'lobby' && !(before.visit.at === 'lobby' && before.visit.preview === next.preview)) this.#warmUp(next.preview);
    this.#follow();
  }

  /** Does now what was planned for later. */
  readonly hurry = (): void => this.#task?.hurry();

  #patch(part: Partial<Snapshot>): void {
    this.store.set({ ...this.store.get(), ...part });
  }

  #setAsking(asking: boolean): void {
    if (this.store.get().asking !== asking) this.#patch({ asking });
  }

  /** Somebody who is not in the room sends nothing and hears nothing. */
  #tidy(visit: Visit): void {
    const { inside } = this.store.get();
    if (inside && visit.at !== 'room') {
      this.#patch({ inside: null });
      inside.session.leave();
    }
    if (visit.at === 'refused' || visit.at === 'removed' || (visit.at === 'away' && !visit.arrival)) {
      this.#means.studio.close();
    }
  }

  /** Before the first view is drawn: devices take as long to open as that takes, and do so beside it. */
  #warmUp({ room_type, you: { may_send } }: Preview): void {
    void this.#means.studio.warmUp(room_type === 'video', { mic: may_send.microphone, camera: may_send.camera });
  }

  #follow(): void {
    const task = taskOf(this.store.get().visit);
    if (task?.key === this.#task?.key) return;
    this.#task?.abort.abort();
    this.#task = null;
    this.#setAsking(false);
    if (task) void this.#run(task);
  }

  async #run(task: Task): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#task = { key: task.key, abort, hurry: () => undefined };
    const wait = task.waitMs(Math.random, this.clock.now());
    // What is due is on its way before anything is drawn.
    if (wait > 0) await this.#pause(wait, this.#task, task.firm);
    if (signal.aborted) return;
    this.#setAsking(task.do === 'preview');
    const outcome = await this.#do(task, signal);
    // What was overtaken has nothing to say any more.
    if (signal.aborted) {
      outcome?.inside?.session.leave();
      return;
    }
    // The state may answer with the very same task: it has to run again.
    this.#task = null;
    this.#setAsking(false);
    if (outcome) this.#apply(outcome);
  }

  /** Until then, or until somebody is in a hurry, where that is allowed. */
  #pause(ms: number, running: Running, firm: boolean): Promise<void> {
    return new Promise((go) => {
      if (!firm) running.hurry = go;
      const timer = ms === Infinity ? undefined : setTimeout(go, ms);
      running.abort.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        go();
      });
    });
  }

  async #do(task: Task, signal: AbortSignal): Promise<Outcome | null> {
    switch (task.do) {
      case 'preview':
        return { event: await this.#preview(signal) };
      case 'takeSeat':
        return { event: await this.#takeSeat(task.arrival, signal) };
      case 'connect':
        return this.#connect(task, signal);
    }
  }

  async #preview(signal: AbortSignal): Promise<Event> {
    const { api, seatKey, rival } = this.#means;
    let asked = 0;
    const ask = (seat_key: string): ReturnType<JoinApi['preview']> => {
      asked = Date.now();
      return api.preview({ seat_key, ...(this.#link && { link: this.#link }) }, signal);
    };
    // The server is asked while the browser looks whether another tab has the key.
    const key = this.#key;
    const likely = ask(key);
    this.#key = await seatKey;
    const answer = await (this.#key === key ? likely : ask(this.#key));
    switch (answer.is) {
      case 'ok':
        this.clock.set(answer.value.server_time, asked, Date.now());
        return { type: 'previewed', preview: answer.value, rival: await rival };
      case 'refused':
        return { type: 'refused', refusal: answer.refusal };
      case 'unreachable':
        return { type: 'unreachable', waitMs: answer.waitMs };
    }
  }

  async #takeSeat({ name, role }: Arrival, signal: AbortSignal): Promise<Event> {
    // At once, before what the press changes is drawn: the key is known since the room is.
    const answer = await this.#means.api.takeSeat({ name, role, seat_key: this.#key, ...(this.#link && { link: this.#link }) }, signal);
    switch (answer.is) {
      case 'ok': {
        const { value } = answer;
        return 'ask_again_in' in value ? { type: 'toWait', pauseMs: value.ask_again_in * 1000 } : { type: 'seated', seat: value };
      }
      case 'refused':
        return { type: 'refused', refusal: answer.refusal };
      case 'unreachable':
        return { type: 'unreachable', waitMs: answer.waitMs };
    }
  }

  async #connect({ seat }: Extract<Task, { do: 'connect' }>, signal: AbortSignal): Promise<Outcome | null> {
    const { visit, inside } = this.store.get();
    const from = visit.at === 'room' ? visit.seat : null;
    // Told to move to where one is already.
    if (from?.session_id === seat.session_id && inside?.session.live) return { event: { type: 'connected' } };
    const { room, studio } = this.#means;
    let module: RoomModule;
    try {
      module = room.loaded.get() ?? (await room.get());
    } catch {
      return { event: { type: 'stale' } };
    }
    if (signal.aborted) return null;
    const shown = (): boolean => this.store.get().inside?.session === session;
    const session: Session = new module.Session(seat.room_type, studio, {
      dropped: (loss) => {
        if (shown()) this.dispatch({ type: 'dropped', loss });
      },
      shaky: (shaky) => {
        if (shown()) this.dispatch({ type: shaky ? 'shaky' : 'steady' });
      },
      told: (word) => {
        if (shown()) this.dispatch({ type: 'told', word });
      },
    });
    // A screen is shared with those who are there, not with those elsewhere.
    if (from && from.breakout?.number !== seat.breakout?.number) studio.stopSharing();
    const cancel = (): void => session.leave();
    signal.addEventListener('abort', cancel);
    const connected = await session.connect(seat);
    signal.removeEventListener('abort', cancel);
    if (!connected || signal.aborted) return { event: { type: 'notConnected' } };
    return { event: { type: 'connected' }, inside: { module, session } };
  }
}
