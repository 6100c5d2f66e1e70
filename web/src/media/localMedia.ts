import { Store } from '../state/store';
import { acquire } from './acquire';
import { applyBlur, readBlur } from './blur';
import { type DeviceKind, devicePreferences } from './devicePreferences';
import { listDevices, noDefaultNames, noDevices } from './devices';
import type { CaptureKind, Fault } from './faults';
import { type Capture, isRunning, type MediaState } from './mediaState';
import { permissionFor } from './permission';

const off = { is: 'off' } as const;

/** The system usually returns the devices to a visible page within this time (in milliseconds). */
const interruptionGraceMs = 1_000;

/**
 * The visitor's own devices, from the first view until the end. They outlive media
 * connections, so that after a restart of the server the same tracks are published again
 * without another permission prompt.
 */
export class LocalMedia {
  readonly state = new Store<MediaState>({
    video: false,
    allowed: { mic: true, camera: true },
    mic: off,
    camera: off,
    screen: off,
    screenMotion: false,
    micOn: devicePreferences.micOn(),
    cameraOn: devicePreferences.cameraOn(),
    blur: null,
    noiseSuppression: devicePreferences.noiseSuppression(),
    devices: noDevices,
    defaultNames: noDefaultNames,
    selectedDevices: {
      mic: devicePreferences.device('mic'),
      camera: devicePreferences.device('camera'),
      speaker: devicePreferences.device('speaker'),
    },
  });
  /** Incremented when the pending request of a kind is no longer wanted. */
  readonly #requestId: Record<CaptureKind, number> = { mic: 0, camera: 0 };
  /** Queried early, because the browser takes some time to answer. */
  readonly #permission: Record<CaptureKind, Promise<PermissionStatus | null>> = {
    mic: permissionFor('mic'),
    camera: permissionFor('camera'),
  };
  #isWatchingDevices = false;
  /** The side of a phone whose camera is opened when none is selected. */
  #facing: 'user' | 'environment' = 'user';

  /**
   * Prepares for a room and, with `open`, opens the devices that are already permitted. It
   * never shows a permission prompt.
   */
  async warmUp(video: boolean, allowed: Record<CaptureKind, boolean>, open: boolean): Promise<void> {
    this.#patch({ video });
    this.setAllowed(allowed);
    if (open) await this.#openGranted();
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

  /** Opens the wanted devices that are still off. Called after the visitor presses Join. */
  async prepare(): Promise<void> {
    if (!this.#hasDeviceAccess()) return this.#turnOffFailedDevices();
    this.#turnOffFailedDevices();
    const state = this.state.get();
    // A visitor who joins muted is not asked for the microphone; unmuting asks.
    await this.#open(this.#wantedKinds().filter((kind) => state[kind].is === 'off' && (kind === 'camera' || state.micOn)));
  }

  /** A visitor who joins although a device failed joins without it. */
  #turnOffFailedDevices(): void {
    const { mic, camera, micOn, cameraOn } = this.state.get();
    this.#patch({ micOn: micOn && mic.is !== 'failed', cameraOn: cameraOn && camera.is !== 'failed' });
  }

  /** Opens the microphone and, where it is wanted, the camera, also after a denial. */
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

  /** For push-to-talk: the setting is not remembered. */
  async setMicOnTemporarily(on: boolean): Promise<void> {
    this.#patch({ micOn: on });
    const { is } = this.state.get().mic;
    if (on && (is === 'off' || is === 'failed')) await this.retry('mic');
  }

  async setCameraOn(on: boolean): Promise<void> {
    devicePreferences.setCameraOn(on);
    // Stops the track, so that the light of the camera goes out.
    if (!on) this.#stop('camera');
    this.#patch({ cameraOn: on });
    if (on && this.state.get().camera.is !== 'live') await this.retry('camera');
  }

  /** Changes to the camera on the other side of a phone, until the page is closed. */
  async flipCamera(): Promise<void> {
    const { camera, selectedDevices } = this.state.get();
    if (camera.is !== 'live') return;
    this.#facing = camera.track.getSettings().facingMode === 'environment' ? 'user' : 'environment';
    this.#patch({ selectedDevices: { ...selectedDevices, camera: '' } });
    await this.#open(['camera']);
  }

  /** Switches the blur of the background. */
  async setBlur(on: boolean): Promise<void> {
    devicePreferences.setBlur(on);
    const { camera } = this.state.get();
    if (camera.is === 'live') await this.#applyBlur(camera.track, on);
    else this.#patch({ blur: on });
  }

  /** Switches noise suppression, which has to be off for music. */
  async setNoiseSuppression(on: boolean): Promise<void> {
    devicePreferences.setNoiseSuppression(on);
    this.#patch({ noiseSuppression: on });
    // Not every browser can change it on an open microphone.
    if (this.state.get().mic.is !== 'off') await this.#open(['mic']);
  }

  /** Closes devices that the visitor may not use. The preferences stay. */
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
      // The browser has its own button to stop sharing.
      video.addEventListener('ended', () => this.stopSharing());
      this.#patch({ screen: { is: 'live', video, audio: stream.getAudioTracks()[0] ?? null } });
    } catch (error) {
      const canceled = error instanceof Error && error.name === 'NotAllowedError' && !/system/i.test(error.message);
      this.#patch({ screen: canceled ? { is: 'off' } : { is: 'failed' } });
    }
  }

  /** Chooses between moving pictures and sharp text for shared screens, also for the one that is shared now. */
  setScreenMotion(on: boolean): void {
    this.#patch({ screenMotion: on });
  }

  stopSharing(): void {
    const { screen } = this.state.get();
    if (screen.is === 'live') {
      screen.video.stop();
      screen.audio?.stop();
    }
    this.#patch({ screen: { is: 'off' } });
  }

  /** Closes all devices. */
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
    // Also when muted, because the first view shows the level and unmuting has to be immediate.
    if (allowed.mic) wanted.push('mic');
    if (video && allowed.camera && cameraOn) wanted.push('camera');
    return wanted;
  }

  /** Browsers hide all devices from pages without TLS, and some in-app browsers hide them from all pages. */
  #hasDeviceAccess(): boolean {
    // The type says that it always exists; on such a page it does not.
    const devices: MediaDevices | undefined = navigator.mediaDevices;
    if (devices) return true;
    const failed = { is: 'failed', fault: isSecureContext ? 'app' : 'insecure' } as const;
    this.#patch({ mic: failed, camera: failed });
    return false;
  }

  /** Stops the track and invalidates a pending request. */
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
      // Phones and Firefox open one device of a kind at a time, so that the old one has
      // to be closed first.
      this.#set(kind, { is: 'requesting', live: isRunning(this.#stopTrack(kind)) });
      return this.#requestId[kind];
    });
    const results = await acquire(kinds.map((kind) => ({ kind, deviceId: selectedDevices[kind], noiseSuppression, facing: this.#facing })));
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
    // Unplugged, or denied in the browser's settings: open what is available.
    track.addEventListener('ended', () => {
      if (isCurrent()) void this.#open([kind]);
    });
  }

  #watchBlur(track: MediaStreamTrack): void {
    const update = (): void => this.#patch({ blur: readBlur(track) });
    update();
    // The operating system can switch it, too.
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

  /**
   * After a phone call some systems keep a device interrupted until it is opened again
   * (https://bugs.webkit.org/show_bug.cgi?id=208516).
   */
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
      // A new device must not cause a permission prompt for a visitor who only listens.
      const wanted = kind === 'mic' ? micOn : cameraOn;
      if (wanted || (await this.#isGranted(kind))) await this.#open([kind]);
    }
  }

  async #refreshDeviceList(): Promise<void> {
    this.#patch(await listDevices());
  }
}
