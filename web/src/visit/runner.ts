import type { Body, CallOptions, JoinApi, Preview, Result, Value } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import type { RoomModule, Session } from '../room';
import type { Route } from '../route';
import type { Lazy } from '../state/lazy';
import { Store } from '../state/store';
import { ServerClock } from '../time/serverClock';
import { setBrand } from '../ui/projectBrand';
import { reduce } from './reduce';
import { isTooEarlyForDevices } from './schedule';
import { type Event, opening, type Visit } from './state';
import { type Task, taskOf } from './task';

export interface JoinedRoom {
  module: RoomModule;
  session: Session;
}

export interface Snapshot {
  visit: Visit;
  /** The current media connection. It is kept while the page rejoins, so that nobody disappears. */
  joined: JoinedRoom | null;
  /** A preview request is running, not merely planned. */
  checking: boolean;
}

export interface Deps {
  route: Route;
  api: JoinApi;
  seatKey: Promise<string>;
  /** The key that `seatKey` will most likely resolve to. */
  expectedKey: string;
  /** Whether another tab of this browser was in the room with that key at the start. */
  duplicateTab: Promise<boolean>;
  /** When this tab entered the room before the page was reloaded. */
  joinedAt: number | null;
  localMedia: LocalMedia;
  room: Lazy<RoomModule>;
}

/** The result of a task. `joined` is a new connection. */
interface Outcome {
  event: Event;
  joined?: JoinedRoom;
}

interface RunningTask {
  key: string;
  abort: AbortController;
  runNow: () => void;
}

/** Executes the task of the current state and dispatches its result. */
export class Runner {
  readonly store = new Store<Snapshot>({ visit: opening, joined: null, checking: false });
  readonly clock = new ServerClock();
  readonly #deps: Deps;
  /** The link's token, until the visitor continues as a guest without it. */
  #link: string | null;
  /** The seat key; the expected one until it is certain. */
  #key: string;
  #task: RunningTask | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#key = deps.expectedKey;
    this.#link = deps.route.link;
    window.addEventListener('online', this.runNow);
    // Timers of a hidden tab are delayed; a visitor who returns should not wait for them.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.runNow();
    });
    window.addEventListener('pagehide', () => {
      const { visit } = this.store.get();
      // Hosts should not admit somebody who has gone.
      if ((visit.at === 'lobby' || visit.at === 'left') && visit.joinAttempt && visit.joinAttempt.knocks > 0) this.#stopWaiting();
    });
  }

  start(): void {
    this.#startDueTask();
  }

  readonly dispatch = (event: Event): void => this.#apply({ event });

  #apply({ event, joined }: Outcome): void {
    const before = this.store.get();
    const next = reduce(before.visit, event, Date.now());
    if (next === before.visit) return;
    if (event.type === 'joinAsGuest') this.#link = null;
    this.#patch({ visit: next, ...(joined && { joined }) });
    // A visitor who moves stays in the old room until the new one is connected.
    if (joined) before.joined?.session.leave();
    this.#releaseUnused(next);
    if (event.type === 'stopWaiting') this.#stopWaiting();
    if (next.at === 'lobby' && !(before.visit.at === 'lobby' && hasSameDevices(before.visit.preview, next.preview, this.clock.now()))) {
      this.#warmUp(next.preview);
    }
    this.#startDueTask();
  }

  /** Runs the planned task now. */
  readonly runNow = (): void => this.#task?.runNow();

  /** Asks for a token with which this visitor tests the media connection. */
  readonly preflight = (): Promise<Result<Value<'check'>>> => this.#deps.api.call('check', this.#visitor(this.#key));

  #visitor(seat_key: string): Pick<Body<'seats'>, 'seat_key' | 'link'> {
    return { seat_key, ...(this.#link && { link: this.#link }) };
  }

  #patch(part: Partial<Snapshot>): void {
    this.store.set({ ...this.store.get(), ...part });
  }

  #setChecking(checking: boolean): void {
    if (this.store.get().checking !== checking) this.#patch({ checking });
  }

  /** A visitor who is not in the room sends and receives nothing. */
  #releaseUnused(visit: Visit): void {
    const { joined } = this.store.get();
    if (joined && visit.at !== 'room') {
      this.#patch({ joined: null });
      joined.session.leave();
      this.#deps.localMedia.stopSharing();
    }
    if (visit.at === 'alreadyJoined' || visit.at === 'refused' || visit.at === 'removed' || (visit.at === 'left' && !visit.joinAttempt)) {
      this.#deps.localMedia.close();
    }
  }

  #stopWaiting(): void {
    void this.#deps.api.call('waiting/stop', { seat_key: this.#key }, { keepalive: true });
  }

  /** Opens the devices before the first view is drawn, because both take about as long. */
  #warmUp(preview: Preview): void {
    const { microphone, camera } = preview.you.may_send;
    const open = !isTooEarlyForDevices(preview, this.clock.now());
    void this.#deps.localMedia.warmUp(preview.room_type === 'video', { mic: microphone, camera }, open);
  }

  #startDueTask(): void {
    const task = taskOf(this.store.get().visit);
    if (task?.key === this.#task?.key) return;
    this.#task?.abort.abort();
    this.#task = null;
    this.#setChecking(false);
    if (task) void this.#run(task);
  }

  async #run(task: Task): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#task = { key: task.key, abort, runNow: () => undefined };
    const delay = task.waitMs(Math.random, this.clock.now());
    // A request without a delay is sent before anything is drawn.
    if (delay > 0) await this.#wait(delay, this.#task, task.fixedDelay);
    if (signal.aborted) return;
    this.#setChecking(task.do === 'preview');
    const outcome = await this.#execute(task, signal);
    // The result of an aborted task is ignored.
    if (signal.aborted) {
      outcome?.joined?.session.leave();
      return;
    }
    // The next state may have the same task, which has to run again.
    this.#task = null;
    this.#setChecking(false);
    if (outcome) this.#apply(outcome);
  }

  /** Waits for the delay or, unless it is fixed, until runNow is called. */
  #wait(ms: number, running: RunningTask, fixedDelay: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (!fixedDelay) running.runNow = resolve;
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      running.abort.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #execute(task: Task, signal: AbortSignal): Promise<Outcome | null> {
    switch (task.do) {
      case 'preview':
        return { event: await this.#preview({ signal }) };
      case 'reserveSeat':
        return { event: await this.#reserveSeat(task, signal) };
      case 'connect':
        return this.#connect(task, signal);
    }
  }

  async #preview(options: CallOptions): Promise<Event> {
    const { api, seatKey, duplicateTab, joinedAt } = this.#deps;
    let sentAt = 0;
    const request = (seat_key: string): Promise<Result<Preview>> => {
      sentAt = Date.now();
      return api.call('preview', this.#visitor(seat_key), options);
    };
    // Asks the server with the expected key while the browser checks whether another tab uses it.
    const key = this.#key;
    const expected = request(key);
    this.#key = await seatKey;
    const result = await (this.#key === key ? expected : request(this.#key));
    switch (result.is) {
      case 'ok':
        this.clock.sync(result.value.server_time, sentAt, Date.now());
        setBrand(result.value);
        return { type: 'previewed', preview: result.value, duplicateTab: await duplicateTab, joinedAt };
      case 'refused':
        return { type: 'refused', error: result.error };
      case 'unreachable':
        return { type: 'unreachable', waitMs: result.waitMs };
    }
  }

  async #reserveSeat(task: Extract<Task, { do: 'reserveSeat' }>, signal: AbortSignal): Promise<Event> {
    const { joinAttempt, previewFirst, timeoutMs } = task;
    if (previewFirst) {
      const event = await this.#preview({ signal, timeoutMs });
      const { visit } = this.store.get();
      // A preview that changes nothing lets the visitor come back.
      if (event.type !== 'previewed' || reduce(visit, event, Date.now()) !== visit) return event;
    }
    const { name, role } = joinAttempt;
    // Sent before the change is drawn, because the key is known since the preview.
    const result = await this.#deps.api.call('seats', { name, role, ...this.#visitor(this.#key) }, { signal, timeoutMs });
    switch (result.is) {
      case 'ok': {
        const { value } = result;
        return 'ask_again_in' in value
          ? { type: 'mustWait', pauseMs: value.ask_again_in * 1000, hostPresent: value.host_present }
          : { type: 'seated', seat: value };
      }
      case 'refused':
        return { type: 'refused', error: result.error };
      case 'unreachable':
        return { type: 'unreachable', waitMs: result.waitMs };
    }
  }

  async #connect({ seat, timeoutMs }: Extract<Task, { do: 'connect' }>, signal: AbortSignal): Promise<Outcome | null> {
    const { visit, joined } = this.store.get();
    const previousSeat = visit.at === 'room' ? visit.seat : null;
    // The visitor is already in the target room.
    if (previousSeat?.session_id === seat.session_id && joined?.session.isOpen) return { event: { type: 'connected' } };
    const { room, localMedia } = this.#deps;
    let module: RoomModule;
    try {
      module = room.loaded.get() ?? (await room.get());
    } catch {
      return { event: { type: 'loadFailed' } };
    }
    if (signal.aborted) return null;
    const isShown = (): boolean => this.store.get().joined?.session === session;
    const session: Session = new module.Session(seat.room_type, localMedia, {
      onDisconnected: (cause) => {
        if (isShown()) this.dispatch({ type: 'disconnected', cause });
      },
      onReconnecting: (reconnecting) => {
        if (isShown()) this.dispatch({ type: reconnecting ? 'reconnecting' : 'reconnected' });
      },
      onAnnouncement: (announcement) => {
        if (isShown()) this.dispatch({ type: 'announced', announcement });
      },
    });
    // A screen is shared with one room only.
    if (previousSeat && previousSeat.breakout?.number !== seat.breakout?.number) localMedia.stopSharing();
    const cancel = (): void => session.leave();
    signal.addEventListener('abort', cancel);
    const connected = await session.connect(seat, timeoutMs);
    signal.removeEventListener('abort', cancel);
    if (!connected || signal.aborted) return { event: { type: 'notConnected' } };
    return { event: { type: 'connected' }, joined: { module, session } };
  }
}

/** Whether two previews lead to the same devices in the first view. */
function hasSameDevices(a: Preview, b: Preview, now: number): boolean {
  return (
    a === b ||
    (a.room_type === b.room_type &&
      a.you.may_send.microphone === b.you.may_send.microphone &&
      a.you.may_send.camera === b.you.may_send.camera &&
      isTooEarlyForDevices(a, now) === isTooEarlyForDevices(b, now))
  );
}
