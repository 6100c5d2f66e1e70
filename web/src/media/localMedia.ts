import { Store } from '../state/store';
import { acquire } from './acquire';
import { applyBlur, readBlur } from './blur';
import { type DeviceKind, devicePreferences } from './devicePreferences';
import { listDevices, noDefaultNames, noDevices } from './devices';
import type { CaptureKind, Fault } from './faults';
import { LatestRequest } from './latestRequest';
import { type Capture, deviceToOpen, isRunning, type MediaState } from './mediaState';
import { permissionFor } from './permission';
import { RetrySchedule } from './retrySchedule';
import { ScreenShare } from './screenShare';

const off = { is: 'off' } as const;
const captureKinds = ['mic', 'camera'] as const;

/** The system usually returns the devices to a visible page within this time (in milliseconds). */
const interruptionGraceMs = 1_000;
/** An interrupted device is opened again this often without the visitor, because that does not always help. */
const maxInterruptedRetries = 5;
/** Milliseconds between two looks at the open devices, because not every system reports that one has ended. */
const checkMs = 2_000;

/** Faults that pass without the visitor: another app ends its call, or a headset connects again. */
const passingFaults: readonly Fault[] = ['busy', 'missing', 'unknown'];

/** What the page knows about a device beyond what it shows. */
class Device {
  /** The requests of this device. */
  readonly request = new LatestRequest();
  readonly retries = new RetrySchedule();
  /** Queried early, because the browser takes some time to respond. */
  readonly permission: Promise<PermissionStatus | null>;
  /** Undefined while it is queried, null when the browser does not support it. */
  status: PermissionStatus | null | undefined;
  /** The device has run since the page was opened, so that the browser asks no more. */
  wasLive = false;
  /** The id with which the current track was requested. */
  requestedId = '';
  /** The name of the default device when the current track was requested; empty if unknown. */
  defaultName = '';
  /** The choice and the connected devices with which the chosen one could not be opened. */
  missingWith = '';

  constructor(kind: CaptureKind) {
    this.permission = permissionFor(kind);
    void this.permission.then((status) => {
      this.status = status;
    });
  }
}

/**
 * The visitor's own devices, from the first view until the end. They outlive media
 * connections, so that after a restart of the server the same tracks are published again
 * without another permission prompt.
 *
 * What happens to a device is compared with what the visitor wants at every event and, while
 * a device is open, every two seconds (`#check`). Nothing is captured after `close`.
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
    speaker: null,
  });
  readonly #devices: Record<CaptureKind, Device> = { mic: new Device('mic'), camera: new Device('camera') };
  readonly #screen = new ScreenShare((screen) => this.#patch({ screen }));
  readonly #listing = new LatestRequest();
  /** The visitor is in the first view or in the room. */
  #inUse = false;
  #isWatchingDevices = false;
  #checkTimer: ReturnType<typeof setTimeout> | undefined;
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
    this.#inUse = true;
    const granted = { mic: await this.#isGranted('mic'), camera: await this.#isGranted('camera') };
    const state = this.state.get();
    await this.#open(this.#wantedKinds().filter((kind) => granted[kind] && state[kind].is === 'off'));
    this.#watchDevices();
  }

  async #isGranted(kind: CaptureKind): Promise<boolean> {
    return (await this.#devices[kind].permission)?.state === 'granted';
  }

  /** Opens the wanted devices that are still off. Called after the visitor presses Join. */
  async prepare(): Promise<void> {
    if (!this.#hasDeviceAccess()) return this.#turnOffFailedDevices();
    this.#turnOffFailedDevices();
    const state = this.state.get();
    // A visitor who joins muted is not asked for the microphone; unmuting asks.
    await this.#request(this.#wantedKinds().filter((kind) => state[kind].is === 'off' && (kind === 'camera' || state.micOn)));
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
    await this.#request(this.#wantedKinds().filter((kind) => state[kind].is !== 'live'));
  }

  async retry(kind: CaptureKind): Promise<void> {
    if (this.#hasDeviceAccess()) await this.#request([kind]);
  }

  /** Opens devices because the visitor wants it, however often they have failed before. */
  async #request(kinds: CaptureKind[]): Promise<void> {
    this.#inUse = true;
    for (const kind of kinds) this.#devices[kind].retries.restart(performance.now());
    await this.#open(kinds);
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
    await this.#request(['camera']);
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
    if (this.state.get().mic.is !== 'off') await this.#request(['mic']);
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
    if (this.state.get()[kind].is !== 'off') await this.#request([kind]);
  }

  /** Reports which speaker plays the others; empty for the default one, null for none. */
  setSpeakerInUse(speaker: string | null): void {
    if (this.state.get().speaker !== speaker) this.#patch({ speaker });
  }

  async shareScreen(): Promise<void> {
    await this.#screen.start();
  }

  /** Chooses between moving pictures and sharp text for shared screens, also for the one that is shared now. */
  setScreenMotion(on: boolean): void {
    this.#patch({ screenMotion: on });
  }

  /** Also withdraws a request that the visitor has not answered yet. */
  stopSharing(): void {
    this.#screen.stop();
  }

  /** Closes all devices, and withdraws all requests. */
  close(): void {
    this.#inUse = false;
    clearTimeout(this.#checkTimer);
    this.#stop('mic');
    this.#stop('camera');
    this.stopSharing();
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

  /** Stops the track and withdraws the pending request. */
  #stopTrack(kind: CaptureKind): Capture {
    this.#devices[kind].request.cancel();
    const capture = this.state.get()[kind];
    if (capture.is === 'live') capture.track.stop();
    return capture;
  }

  #stop(kind: CaptureKind): void {
    if (this.#stopTrack(kind).is !== 'off') this.#set(kind, off);
  }

  /** Opens devices with one prompt. A quiet attempt leaves the fault on the screen until it has succeeded. */
  async #open(kinds: CaptureKind[], quiet = false): Promise<void> {
    if (kinds.length === 0 || !this.#inUse) return;
    const state = this.state.get();
    const pending = kinds.map((kind) => {
      // Phones and Firefox open one device of a kind at a time, so that the old one has
      // to be closed first.
      const before = this.#stopTrack(kind);
      if (!quiet) this.#set(kind, { is: 'requesting', live: isRunning(before) });
      return this.#devices[kind].request.begin();
    });
    const results = await acquire(
      kinds.map((kind) => ({
        kind,
        deviceId: deviceToOpen(state, kind),
        noiseSuppression: state.noiseSuppression,
        facing: this.#facing,
      })),
      (kind) => pending[kinds.indexOf(kind)]?.isWanted() === true,
    );
    kinds.forEach((kind, i) => {
      const result = results.get(kind);
      const isWanted = pending[i]?.end() === true;
      if (!result) return;
      if ('fault' in result) {
        if (!isWanted) return;
        this.#devices[kind].retries.failed(performance.now());
        this.#set(kind, { is: 'failed', fault: result.fault });
      } else if (isWanted) {
        if (result.requestedId !== deviceToOpen(state, kind)) this.#devices[kind].missingWith = choiceOf(state, kind);
        this.#devices[kind].defaultName = state.defaultNames[kind];
        this.#useTrack(kind, result.track, result.requestedId);
      } else {
        result.track.stop();
      }
    });
    if (this.#isWatchingDevices) await this.#refreshDeviceList();
    else this.#watchDevices();
    this.#check();
  }

  #useTrack(kind: CaptureKind, track: MediaStreamTrack, requestedId: string): void {
    const device = this.#devices[kind];
    device.wasLive = true;
    device.requestedId = requestedId;
    if (track.muted) device.retries.failed(performance.now());
    else device.retries.opened(performance.now());
    this.#showTrack(kind, track);
    const update = (): void => {
      if (!this.#isCurrent(kind, track)) return;
      this.#showTrack(kind, track);
      if (track.muted) device.retries.ended(performance.now(), interruptionGraceMs);
      this.#check();
    };
    track.addEventListener('mute', update);
    track.addEventListener('unmute', update);
    // Unplugged, or denied in the browser's settings: open what is available.
    track.addEventListener('ended', () => this.#check());
    if (kind === 'camera') this.#watchBlur(track);
  }

  #showTrack(kind: CaptureKind, track: MediaStreamTrack): void {
    const requestedDefault = this.#devices[kind].requestedId === '';
    // The back camera of a phone is not the default one.
    const isDefault = requestedDefault && !(kind === 'camera' && this.#facing === 'environment');
    const deviceId = isDefault ? '' : (track.getSettings().deviceId ?? this.#devices[kind].requestedId);
    const before = this.state.get()[kind];
    if (before.is === 'live' && before.track === track && before.interrupted === track.muted && before.deviceId === deviceId) return;
    this.#set(kind, { is: 'live', track, interrupted: track.muted, deviceId });
  }

  #isCurrent(kind: CaptureKind, track: MediaStreamTrack): boolean {
    const capture = this.state.get()[kind];
    return capture.is === 'live' && capture.track === track;
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
    if (this.#isCurrent('camera', track)) this.#patch({ blur: readBlur(track) });
  }

  #watchDevices(): void {
    if (this.#isWatchingDevices) return;
    this.#isWatchingDevices = true;
    navigator.mediaDevices.addEventListener('devicechange', () => {
      // A new device is a reason to try again at once.
      for (const kind of captureKinds) this.#devices[kind].retries.restart(performance.now());
      void this.#refreshDeviceList().then(this.#check);
    });
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) return;
      for (const kind of captureKinds) this.#devices[kind].retries.restart(performance.now(), interruptionGraceMs);
      this.#check();
    });
    for (const kind of captureKinds) {
      void this.#devices[kind].permission.then((status) => {
        status?.addEventListener('change', () => {
          if (status.state === 'granted') void this.#openAllowed(kind);
        });
      });
    }
    void this.#refreshDeviceList();
  }

  /** The visitor has allowed the device in the settings of the browser. */
  async #openAllowed(kind: CaptureKind): Promise<void> {
    const capture = this.state.get()[kind];
    const wasDenied = capture.is === 'failed' && !passingFaults.includes(capture.fault);
    if (wasDenied && this.#wantedKinds().includes(kind)) await this.#open([kind]);
  }

  /** Compares the devices with what the visitor wants, and plans the next look. */
  readonly #check = (): void => {
    clearTimeout(this.#checkTimer);
    if (!this.#inUse) return;
    const now = performance.now();
    let next = Infinity;
    for (const kind of captureKinds) {
      this.#noticeEnd(kind, now);
      const delay = this.#untilOpening(kind, now);
      if (delay > 0) {
        next = Math.min(next, delay, this.state.get()[kind].is === 'live' ? checkMs : Infinity);
        continue;
      }
      this.#devices[kind].retries.requested(now);
      void this.#open([kind], this.state.get()[kind].is === 'failed');
    }
    if (next < Infinity) this.#checkTimer = setTimeout(this.#check, next);
  };

  /** An ended track is never shown as live. */
  #noticeEnd(kind: CaptureKind, now: number): void {
    const capture = this.state.get()[kind];
    if (capture.is !== 'live' || capture.track.readyState !== 'ended') return;
    const { retries } = this.#devices[kind];
    retries.ended(now);
    // Shown at once, unless another device replaces it now.
    if (retries.delay(now) > 0) this.#set(kind, { is: 'failed', fault: 'unknown' });
  }

  /** Returns the milliseconds until the device is opened without the visitor, 0 for now and Infinity for not at all. */
  #untilOpening(kind: CaptureKind, now: number): number {
    const { retries, request } = this.#devices[kind];
    if (request.isPending) return Infinity;
    const capture = this.state.get()[kind];
    switch (capture.is) {
      case 'off':
      case 'requesting':
        return Infinity;
      case 'live':
        if (capture.track.readyState === 'ended' || this.#isOutdated(kind)) return retries.delay(now);
        if (!capture.interrupted || document.hidden || retries.failures >= maxInterruptedRetries) return Infinity;
        return retries.delay(now);
      case 'failed':
        if (!passingFaults.includes(capture.fault) || !this.#wantedKinds().includes(kind) || !this.#mayOpen(kind)) return Infinity;
        // A hidden page tries once after each change; then it waits until it is visible.
        return document.hidden && retries.failures > 0 ? Infinity : retries.delay(now);
    }
  }

  /** Whether a device may be opened without the visitor: a visitor who only listens must not see a permission prompt. */
  #mayOpen(kind: CaptureKind): boolean {
    const { status, wasLive, retries } = this.#devices[kind];
    if (status?.state === 'denied') return false;
    if (status?.state === 'granted' || (status === null && wasLive)) return true;
    const { micOn, cameraOn } = this.state.get();
    // The visitor wants to use the device, and it has just been plugged in or was returned by the system.
    return retries.failures === 0 && (kind === 'mic' ? micOn : cameraOn);
  }

  async #refreshDeviceList(): Promise<void> {
    const listing = this.#listing.begin();
    const list = await listDevices();
    if (!listing.end()) return;
    this.#patch(list);
    const now = this.state.get();
    for (const kind of captureKinds) {
      const device = this.#devices[kind];
      device.defaultName ||= now.defaultNames[kind];
      const capture = now[kind];
      // The system may have moved the track to another device.
      if (capture.is === 'live') this.#showTrack(kind, capture.track);
    }
  }

  /** Whether another device should be used: the chosen one is connected again, or the default one, which is in use, is another one now. */
  #isOutdated(kind: CaptureKind): boolean {
    const state = this.state.get();
    const { requestedId, defaultName, missingWith } = this.#devices[kind];
    const toOpen = deviceToOpen(state, kind);
    if (toOpen !== '') return toOpen !== requestedId && missingWith !== choiceOf(state, kind);
    const name = state.defaultNames[kind];
    return requestedId === '' && defaultName !== '' && name !== '' && name !== defaultName;
  }
}

/** Returns a key for the chosen device and the connected ones. */
const choiceOf = ({ selectedDevices, devices }: MediaState, kind: CaptureKind): string =>
  [selectedDevices[kind], ...devices[kind].map(({ deviceId }) => deviceId)].join(' ');
