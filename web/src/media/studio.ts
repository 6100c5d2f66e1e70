import { Store } from '../lib/store';
import { acquire } from './acquire';
import { blur, blurOf } from './blur';
import { choices, type Choice } from './choices';
import { runs, type Capture, type Desk } from './desk';
import { listDevices, noDevices } from './devices';
import type { Fault, Kind } from './faults';
import { permissionFor } from './permission';

const off = { is: 'off' } as const;

/** Milliseconds in which the system gives devices back by itself to a page that is looked at again. */
const returnPatience = 1_000;

/**
 * The visitor's own devices, from the first view to the end. It outlives media
 * connections: after a restart of the server the same tracks are sent again,
 * without asking anybody for anything.
 */
export class Studio {
  readonly desk = new Store<Desk>({
    video: false,
    may: { mic: true, camera: true },
    mic: off,
    camera: off,
    screen: off,
    micOn: choices.micOn(),
    cameraOn: choices.cameraOn(),
    blur: null,
    noiseSuppression: choices.noiseSuppression(),
    devices: noDevices,
    chosen: { mic: choices.device('mic'), camera: choices.device('camera'), speaker: choices.device('speaker') },
  });
  /** Raised whenever what was asked for is not wanted any more. */
  readonly #turn: Record<Kind, number> = { mic: 0, camera: 0 };
  /** Asked for before anybody needs them: the browser takes its time. */
  readonly #permission: Record<Kind, Promise<PermissionStatus | null>> = { mic: permissionFor('mic'), camera: permissionFor('camera') };
  #watching = false;

  /** What is used in that room. Opens of it what the browser already allows; it asks nobody. */
  async warmUp(video: boolean, may: Record<Kind, boolean>): Promise<void> {
    this.#patch({ video });
    this.permit(may);
    await this.#openAllowed();
  }

  async #openAllowed(): Promise<void> {
    if (!this.#secure()) return;
    const allowed = { mic: await this.#allows('mic'), camera: await this.#allows('camera') };
    const desk = this.desk.get();
    await this.#open(this.#wanted().filter((kind) => allowed[kind] && desk[kind].is === 'off'));
    this.#watch();
  }

  async #allows(kind: Kind): Promise<boolean> {
    return (await this.#permission[kind])?.state === 'granted';
  }

  /** Asks for what is wanted and not there: after a press that says so. */
  async prepare(): Promise<void> {
    if (!this.#secure()) return this.#doWithout();
    this.#doWithout();
    const desk = this.desk.get();
    // Nobody who joins muted is asked for a microphone: unmuting asks.
    await this.#open(this.#wanted().filter((kind) => desk[kind].is === 'off' && (kind === 'camera' || desk.micOn)));
  }

  /** Who joins although a device failed has read why, and goes in without it this time. */
  #doWithout(): void {
    const { mic, camera, micOn, cameraOn } = this.desk.get();
    this.#patch({ micOn: micOn && mic.is !== 'failed', cameraOn: cameraOn && camera.is !== 'failed' });
  }

  /** Asks for the microphone, and for the camera where one is wanted; also after a refusal. */
  async allow(): Promise<void> {
    if (!this.#secure()) return;
    const desk = this.desk.get();
    await this.#open(this.#wanted().filter((kind) => desk[kind].is !== 'live'));
  }

  async again(kind: Kind): Promise<void> {
    if (this.#secure()) await this.#open([kind]);
  }

  async setMicOn(on: boolean): Promise<void> {
    choices.setMicOn(on);
    await this.holdMicOn(on);
  }

  /** For as long as a key is held: nothing to remember for the next time. */
  async holdMicOn(on: boolean): Promise<void> {
    this.#patch({ micOn: on });
    const { is } = this.desk.get().mic;
    if (on && (is === 'off' || is === 'failed')) await this.again('mic');
  }

  /** In the first view a microphone that is not open yet stays so: joining asks for it. */
  wishMicOn(on: boolean): void {
    choices.setMicOn(on);
    this.#patch({ micOn: on });
  }

  /** In the first view a camera that the browser would have to ask for waits for a button, too. */
  async wishCameraOn(on: boolean): Promise<void> {
    if (!on) return this.setCameraOn(false);
    choices.setCameraOn(true);
    this.#patch({ cameraOn: true });
    await this.#openAllowed();
  }

  async setCameraOn(on: boolean): Promise<void> {
    choices.setCameraOn(on);
    // Really off, so that its light goes out.
    if (!on) this.#stop('camera');
    this.#patch({ cameraOn: on });
    if (on && this.desk.get().camera.is !== 'live') await this.again('camera');
  }

  /** Blurs what is behind the visitor, or shows it again. */
  async setBlur(on: boolean): Promise<void> {
    choices.setBlur(on);
    const { camera } = this.desk.get();
    if (camera.is === 'live') await this.#blur(camera.track, on);
    else this.#patch({ blur: on });
  }

  /** Has the browser take noise out of what is said, or let everything through, as music needs it. */
  async setNoiseSuppression(on: boolean): Promise<void> {
    choices.setNoiseSuppression(on);
    this.#patch({ noiseSuppression: on });
    // Not every browser changes it on a microphone that runs.
    if (this.desk.get().mic.is !== 'off') await this.#open(['mic']);
  }

  /** Lets go of devices that may not be used; what the visitor wants stays remembered. */
  permit(may: Record<Kind, boolean>): void {
    this.#patch({ may });
    for (const kind of ['mic', 'camera'] as const) if (!may[kind]) this.#stop(kind);
  }

  async choose(choice: Choice, id: string): Promise<void> {
    choices.chooseDevice(choice, id);
    this.#patch({ chosen: { ...this.desk.get().chosen, [choice]: id } });
    if (choice === 'speaker') return;
    if (this.desk.get()[choice].is !== 'off') await this.#open([choice]);
  }

  async shareScreen(): Promise<void> {
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: true });
      const [video] = stream.getVideoTracks();
      if (!video) return;
      // The browser has a button of its own to end it.
      video.addEventListener('ended', () => this.stopSharing());
      this.#patch({ screen: { is: 'live', video, audio: stream.getAudioTracks()[0] ?? null } });
    } catch (error) {
      const cancelled = error instanceof Error && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      this.#patch({ screen: cancelled ? { is: 'off' } : { is: 'failed' } });
    }
  }

  stopSharing(): void {
    const { screen } = this.desk.get();
    if (screen.is === 'live') {
      screen.video.stop();
      screen.audio?.stop();
    }
    this.#patch({ screen: { is: 'off' } });
  }

  /** Lets go of everything. */
  close(): void {
    this.#stop('mic');
    this.#stop('camera');
    if (this.desk.get().screen.is !== 'off') this.stopSharing();
  }

  #patch(part: Partial<Desk>): void {
    this.desk.set({ ...this.desk.get(), ...part });
  }

  #set(kind: Kind, capture: Capture): void {
    this.#patch(kind === 'mic' ? { mic: capture } : { camera: capture });
  }

  #wanted(): Kind[] {
    const { video, may, cameraOn } = this.desk.get();
    const wanted: Kind[] = [];
    // The microphone also when muted: the first view shows its level, and unmuting is at once.
    if (may.mic) wanted.push('mic');
    if (video && may.camera && cameraOn) wanted.push('camera');
    return wanted;
  }

  /** Browsers hide all devices from pages without TLS, and some apps that show links from every page. */
  #secure(): boolean {
    // Typed as always there; on such a page it is not.
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    if (devices) return true;
    const failed = { is: 'failed', fault: isSecureContext ? 'app' : 'insecure' } as const;
    this.#patch({ mic: failed, camera: failed });
    return false;
  }

  /** Ends what runs, and what is on its way. */
  #halt(kind: Kind): Capture {
    this.#turn[kind]++;
    const capture = this.desk.get()[kind];
    if (capture.is === 'live') capture.track.stop();
    return capture;
  }

  #stop(kind: Kind): void {
    if (this.#halt(kind).is !== 'off') this.#set(kind, off);
  }

  async #open(kinds: Kind[]): Promise<void> {
    if (kinds.length === 0) return;
    const { chosen, noiseSuppression } = this.desk.get();
    const turns = kinds.map((kind) => {
      // Phones and Firefox give one device of a kind at a time: the old one goes first.
      this.#set(kind, { is: 'asking', live: runs(this.#halt(kind)) });
      return this.#turn[kind];
    });
    const got = await acquire(kinds.map((kind) => ({ kind, deviceId: chosen[kind], noiseSuppression })));
    kinds.forEach((kind, i) => {
      const result = got.get(kind);
      const overtaken = this.#turn[kind] !== turns[i];
      if (!result) return;
      if ('fault' in result) {
        if (!overtaken) this.#set(kind, { is: 'failed', fault: result.fault });
      } else if (overtaken) {
        result.track.stop();
      } else {
        this.#take(kind, result.track);
      }
    });
    if (this.#watching) await this.#refresh();
    else this.#watch();
  }

  #take(kind: Kind, track: MediaStreamTrack): void {
    const still = (): boolean => {
      const capture = this.desk.get()[kind];
      return capture.is === 'live' && capture.track === track;
    };
    const follow = (): void => {
      if (still()) this.#set(kind, { is: 'live', track, withheld: track.muted });
    };
    this.#set(kind, { is: 'live', track, withheld: track.muted });
    track.addEventListener('mute', follow);
    track.addEventListener('unmute', follow);
    if (kind === 'camera') this.#followBlur(track);
    // Unplugged, or taken back in the browser's settings: try what is left.
    track.addEventListener('ended', () => {
      if (still()) void this.#open([kind]);
    });
  }

  #followBlur(track: MediaStreamTrack): void {
    const follow = (): void => this.#patch({ blur: blurOf(track) });
    follow();
    // The system has a switch of its own.
    track.addEventListener('configurationchange', follow);
    if (this.desk.get().blur === false && choices.blur()) void this.#blur(track, true);
  }

  async #blur(track: MediaStreamTrack, on: boolean): Promise<void> {
    await blur(track, on);
    this.#patch({ blur: blurOf(track) });
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    navigator.mediaDevices.addEventListener('devicechange', () => {
      void this.#refresh();
      void this.#retryFailed(['missing', 'busy']);
    });
    document.addEventListener('visibilitychange', () => setTimeout(this.#reclaim, returnPatience));
    for (const kind of ['mic', 'camera'] as const) {
      void this.#permission[kind].then((status) => {
        status?.addEventListener('change', () => {
          if (status.state === 'granted') void this.#retryFailed(['blocked', 'dismissed', 'system']);
        });
      });
    }
    void this.#refresh();
  }

  /** After a phone call some systems go on withholding a device, until it is opened anew (https://bugs.webkit.org/show_bug.cgi?id=208516). */
  readonly #reclaim = (): void => {
    if (document.hidden) return;
    const desk = this.desk.get();
    void this.#open((['mic', 'camera'] as const).filter((kind) => desk[kind].is === 'live' && desk[kind].withheld));
  };

  async #retryFailed(faults: Fault[]): Promise<void> {
    const { micOn, cameraOn } = this.desk.get();
    for (const kind of this.#wanted()) {
      const capture = this.desk.get()[kind];
      if (capture.is !== 'failed' || !faults.includes(capture.fault)) continue;
      // Plugging something in must not make the browser ask somebody who only listens.
      const wanted = kind === 'mic' ? micOn : cameraOn;
      if (wanted || (await this.#allows(kind))) await this.#open([kind]);
    }
  }

  async #refresh(): Promise<void> {
    this.#patch({ devices: await listDevices() });
  }
}
