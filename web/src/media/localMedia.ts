import { Store } from '../lib/store';
import { acquire } from './acquire';
import { applyBlur, readBlur } from './blur';
import { devicePreferences, type DeviceKind } from './devicePreferences';
import { isRunning, type Capture, type MediaState } from './mediaState';
import { listDevices, noDevices } from './devices';
import type { Fault, CaptureKind } from './faults';
import { permissionFor } from './permission';

const off = { is: 'off' } as const;

/** Milliseconds in which the system gives devices back by itself to a page that is looked at again. */
const interruptionGraceMs = 1_000;

/**
 * The visitor's own devices, from the first view to the end. It outlives media
 * connections: after a restart of the server the same tracks are sent again,
 * without asking anybody for anything.
 */
export class LocalMedia {
  readonly state = new Store<MediaState>({
    video: false,
    allowed: { mic: true, camera: true },
    mic: off,
    camera: off,
    screen: off,
    micOn: devicePreferences.micOn(),
    cameraOn: devicePreferences.cameraOn(),
    blur: null,
    noiseSuppression: devicePreferences.noiseSuppression(),
    devices: noDevices,
    selectedDevices: { mic: devicePreferences.device('mic'), camera: devicePreferences.device('camera'), speaker: devicePreferences.device('speaker') },
  });
  /** Raised whenever what was asked for is not wanted any more. */
  readonly #requestId: Record<CaptureKind, number> = { mic: 0, camera: 0 };
  /** Asked for before anybody needs them: the browser takes its time. */
  readonly #permission: Record<CaptureKind, Promise<PermissionStatus | null>> = { mic: permissionFor('mic'), camera: permissionFor('camera') };
  #isWatchingDevices = false;

  /** What is used in that room. Opens of it what the browser already allows; it asks nobody. */
  async warmUp(video: boolean, allowed: Record<CaptureKind, boolean>): Promise<void> {
    this.#patch({ video });
    this.setAllowed(allowed);
    await this.#openGranted();
  }

  async #openGranted(): Promise<void> {
    if (!this.#hasDeviceAccess()) return;
    const granted = { mic: await this.#isGranted('mic'), camera: await this.#isGranted('camera') };
    const state = this.state.get();
    await this.#open(this.#wantedKinds().filter((kind) => granted[kind] && state[kind].is === 'off'));
    this.#watchDevices();
  }

  async #isGranted(kind: CaptureKind): Promise<boolean> {
    return (await this.#permission[kind])?.state === 'granted';
  }

  /** Asks for what is wanted and not there: after a press that says so. */
  async prepare(): Promise<void> {
    if (!this.#hasDeviceAccess()) return this.#turnOffFailedDevices();
    this.#turnOffFailedDevices();
    const state = this.state.get();
    // Nobody who joins muted is asked for a microphone: unmuting asks.
    await this.#open(this.#wantedKinds().filter((kind) => state[kind].is === 'off' && (kind === 'camera' || state.micOn)));
  }

  /** Who joins although a device failed has read why, and goes in without it this time. */
  #turnOffFailedDevices(): void {
    const { mic, camera, micOn, cameraOn } = this.state.get();
    this.#patch({ micOn: micOn && mic.is !== 'failed', cameraOn: cameraOn && camera.is !== 'failed' });
  }

  /** Asks for the microphone, and for the camera where one is wanted; also after a refusal. */
  async requestDevices(): Promise<void> {
    if (!this.#hasDeviceAccess()) return;
    const state = this.state.get();
    await this.#open(this.#wantedKinds().filter((kind) => state[kind].is !== 'live'));
  }

  async retry(kind: CaptureKind): Promise<void> {
    if (this.#hasDeviceAccess()) await this.#open([kind]);
  }

  async setMicOn(on: boolean): Promise<void> {
    devicePreferences.setMicOn(on);
    await this.setMicOnTemporarily(on);
  }

  /** For as long as a key is held: nothing to remember for the next time. */
  async setMicOnTemporarily(on: boolean): Promise<void> {
    this.#patch({ micOn: on });
    const { is } = this.state.get().mic;
    if (on && (is === 'off' || is === 'failed')) await this.retry('mic');
  }

  /** In the first view a microphone that is not open yet stays so: joining asks for it. */
  setMicOnInLobby(on: boolean): void {
    devicePreferences.setMicOn(on);
    this.#patch({ micOn: on });
  }

  /** In the first view a camera that the browser would have to ask for waits for a button, too. */
  async setCameraOnInLobby(on: boolean): Promise<void> {
    if (!on) return this.setCameraOn(false);
    devicePreferences.setCameraOn(true);
    this.#patch({ cameraOn: true });
    await this.#openGranted();
  }

  async setCameraOn(on: boolean): Promise<void> {
    devicePreferences.setCameraOn(on);
    // Really off, so that its light goes out.
    if (!on) this.#stop('camera');
    this.#patch({ cameraOn: on });
    if (on && this.state.get().camera.is !== 'live') await this.retry('camera');
  }

  /** Blurs what is behind the visitor, or shows it again. */
  async setBlur(on: boolean): Promise<void> {
    devicePreferences.setBlur(on);
    const { camera } = this.state.get();
    if (camera.is === 'live') await this.#applyBlur(camera.track, on);
    else this.#patch({ blur: on });
  }

  /** Has the browser take noise out of what is said, or let everything through, as music needs it. */
  async setNoiseSuppression(on: boolean): Promise<void> {
    devicePreferences.setNoiseSuppression(on);
    this.#patch({ noiseSuppression: on });
    // Not every browser changes it on a microphone that runs.
    if (this.state.get().mic.is !== 'off') await this.#open(['mic']);
  }

  /** Lets go of devices that may not be used; what the visitor wants stays remembered. */
  setAllowed(allowed: Record<CaptureKind, boolean>): void {
    this.#patch({ allowed });
    for (const kind of ['mic', 'camera'] as const) if (!allowed[kind]) this.#stop(kind);
  }

  async selectDevice(kind: DeviceKind, id: string): Promise<void> {
    devicePreferences.setDevice(kind, id);
    this.#patch({ selectedDevices: { ...this.state.get().selectedDevices, [kind]: id } });
    if (kind === 'speaker') return;
    if (this.state.get()[kind].is !== 'off') await this.#open([kind]);
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
      const canceled = error instanceof Error && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      this.#patch({ screen: canceled ? { is: 'off' } : { is: 'failed' } });
    }
  }

  stopSharing(): void {
    const { screen } = this.state.get();
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
    if (this.state.get().screen.is !== 'off') this.stopSharing();
  }

  #patch(part: Partial<MediaState>): void {
    this.state.set({ ...this.state.get(), ...part });
  }

  #set(kind: CaptureKind, capture: Capture): void {
    this.#patch(kind === 'mic' ? { mic: capture } : { camera: capture });
  }

  #wantedKinds(): CaptureKind[] {
    const { video, allowed, cameraOn } = this.state.get();
    const wanted: CaptureKind[] = [];
    // The microphone also when muted: the first view shows its level, and unmuting is at once.
    if (allowed.mic) wanted.push('mic');
    if (video && allowed.camera && cameraOn) wanted.push('camera');
    return wanted;
  }

  /** Browsers hide all devices from pages without TLS, and some apps that show links from every page. */
  #hasDeviceAccess(): boolean {
    // Typed as always there; on such a page it is not.
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    if (devices) return true;
    const failed = { is: 'failed', fault: isSecureContext ? 'app' : 'insecure' } as const;
    this.#patch({ mic: failed, camera: failed });
    return false;
  }

  /** Ends what runs, and what is on its way. */
  #stopTrack(kind: CaptureKind): Capture {
    this.#requestId[kind]++;
    const capture = this.state.get()[kind];
    if (capture.is === 'live') capture.track.stop();
    return capture;
  }

  #stop(kind: CaptureKind): void {
    if (this.#stopTrack(kind).is !== 'off') this.#set(kind, off);
  }

  async #open(kinds: CaptureKind[]): Promise<void> {
    if (kinds.length === 0) return;
    const { selectedDevices, noiseSuppression } = this.state.get();
    const requestIds = kinds.map((kind) => {
      // Phones and Firefox give one device of a kind at a time: the old one goes first.
      this.#set(kind, { is: 'requesting', live: isRunning(this.#stopTrack(kind)) });
      return this.#requestId[kind];
    });
    const results = await acquire(kinds.map((kind) => ({ kind, deviceId: selectedDevices[kind], noiseSuppression })));
    kinds.forEach((kind, i) => {
      const result = results.get(kind);
      const superseded = this.#requestId[kind] !== requestIds[i];
      if (!result) return;
      if ('fault' in result) {
        if (!superseded) this.#set(kind, { is: 'failed', fault: result.fault });
      } else if (superseded) {
        result.track.stop();
      } else {
        this.#useTrack(kind, result.track);
      }
    });
    if (this.#isWatchingDevices) await this.#refreshDeviceList();
    else this.#watchDevices();
  }

  #useTrack(kind: CaptureKind, track: MediaStreamTrack): void {
    const isCurrent = (): boolean => {
      const capture = this.state.get()[kind];
      return capture.is === 'live' && capture.track === track;
    };
    const update = (): void => {
      if (isCurrent()) this.#set(kind, { is: 'live', track, interrupted: track.muted });
    };
    this.#set(kind, { is: 'live', track, interrupted: track.muted });
    track.addEventListener('mute', update);
    track.addEventListener('unmute', update);
    if (kind === 'camera') this.#watchBlur(track);
    // Unplugged, or taken back in the browser's settings: try what is left.
    track.addEventListener('ended', () => {
      if (isCurrent()) void this.#open([kind]);
    });
  }

  #watchBlur(track: MediaStreamTrack): void {
    const update = (): void => this.#patch({ blur: readBlur(track) });
    update();
    // The system has a switch of its own.
    track.addEventListener('configurationchange', update);
    if (this.state.get().blur === false && devicePreferences.blur()) void this.#applyBlur(track, true);
  }

  async #applyBlur(track: MediaStreamTrack, on: boolean): Promise<void> {
    await applyBlur(track, on);
    this.#patch({ blur: readBlur(track) });
  }

  #watchDevices(): void {
    if (this.#isWatchingDevices) return;
    this.#isWatchingDevices = true;
    navigator.mediaDevices.addEventListener('devicechange', () => {
      void this.#refreshDeviceList();
      void this.#retryFailed(['missing', 'busy']);
    });
    document.addEventListener('visibilitychange', () => setTimeout(this.#reopenInterrupted, interruptionGraceMs));
    for (const kind of ['mic', 'camera'] as const) {
      void this.#permission[kind].then((status) => {
        status?.addEventListener('change', () => {
          if (status.state === 'granted') void this.#retryFailed(['blocked', 'dismissed', 'system']);
        });
      });
    }
    void this.#refreshDeviceList();
  }

  /** After a phone call some systems go on withholding a device, until it is opened anew (https://bugs.webkit.org/show_bug.cgi?id=208516). */
  readonly #reopenInterrupted = (): void => {
    if (document.hidden) return;
    const state = this.state.get();
    void this.#open((['mic', 'camera'] as const).filter((kind) => state[kind].is === 'live' && state[kind].interrupted));
  };

  async #retryFailed(faults: Fault[]): Promise<void> {
    const { micOn, cameraOn } = this.state.get();
    for (const kind of this.#wantedKinds()) {
      const capture = this.state.get()[kind];
      if (capture.is !== 'failed' || !faults.includes(capture.fault)) continue;
      // Plugging something in must not make the browser ask somebody who only listens.
      const wanted = kind === 'mic' ? micOn : cameraOn;
      if (wanted || (await this.#isGranted(kind))) await this.#open([kind]);
    }
  }

  async #refreshDeviceList(): Promise<void> {
    this.#patch({ devices: await listDevices() });
  }
}
