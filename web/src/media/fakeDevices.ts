import { vi } from 'vitest';

/** A track of a fake device. Only an end that is not requested fires an event, as in a browser. */
export class FakeTrack extends EventTarget {
  readyState: 'live' | 'ended' = 'live';
  muted = false;
  enabled = true;
  readonly kind: 'audio' | 'video';
  readonly #deviceId: string;

  constructor(kind: 'audio' | 'video', deviceId: string) {
    super();
    this.kind = kind;
    this.#deviceId = deviceId;
  }

  /** The device that really captures. */
  get device(): string {
    return this.#deviceId;
  }

  stop(): void {
    this.readyState = 'ended';
  }

  end(): void {
    if (this.readyState === 'ended') return;
    this.readyState = 'ended';
    this.dispatchEvent(new Event('ended'));
  }

  setMuted(muted: boolean): void {
    if (this.readyState === 'ended' || this.muted === muted) return;
    this.muted = muted;
    this.dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
  }

  getSettings(): MediaTrackSettings {
    return { deviceId: this.#deviceId };
  }

  getCapabilities(): MediaTrackCapabilities {
    return {};
  }
}

interface Prompt {
  for: 'devices' | 'screen';
  grant: () => void;
  deny: () => void;
}

const kindOf = { mic: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' } as const;
type Kind = keyof typeof kindOf;

/** The devices of a computer and the parts of a browser that `LocalMedia` uses. */
export class FakeBrowser {
  /** The connected devices. The first of a kind is the default one. */
  readonly connected: { kind: Kind; id: string }[] = [];
  readonly tracks: FakeTrack[] = [];
  /** The times of the requests for a microphone, in milliseconds. */
  readonly micRequests: number[] = [];
  /** Prompts that the visitor has not answered. */
  prompts: Prompt[] = [];
  permission: PermissionState = 'granted';
  /** Another app has the devices. */
  busy = false;
  /** The system lets no screen be captured. */
  screenBroken = false;
  /** How often devices were requested. */
  requests = 0;
  /** The constraints of the latest request for a screen. */
  screenConstraints: DisplayMediaStreamOptions | undefined;
  supported: Record<string, boolean> = {};
  /** New tracks end at once. */
  dying = false;
  hidden = false;
  /** Connected devices that cannot be opened by their id. */
  readonly broken = new Set<string>();
  readonly #mediaDevices = new EventTarget();
  readonly #document = new EventTarget();
  readonly #statuses: (EventTarget & { state: PermissionState })[] = [];

  constructor() {
    Object.assign(this.#mediaDevices, {
      enumerateDevices: async () => this.connected.map(({ kind, id }) => ({ kind: kindOf[kind], deviceId: id, label: id, groupId: id })),
      getUserMedia: (constraints: MediaStreamConstraints) => this.#getUserMedia(constraints),
      getDisplayMedia: (constraints: DisplayMediaStreamOptions) => {
        this.screenConstraints = constraints;
        if (this.screenBroken) return Promise.reject(new DOMException('Could not start video source', 'NotReadableError'));
        return this.#prompt('screen', () => this.#streamOf([new FakeTrack('video', 'screen')]));
      },
      getSupportedConstraints: () => this.supported,
    });
    Object.defineProperty(this.#document, 'hidden', { get: () => this.hidden });
    vi.stubGlobal('document', this.#document);
    vi.stubGlobal('isSecureContext', true);
    vi.stubGlobal('navigator', {
      mediaDevices: this.#mediaDevices,
      permissions: {
        query: async () => {
          const status = Object.assign(new EventTarget(), { state: this.permission });
          this.#statuses.push(status);
          return status;
        },
      },
    });
  }

  get liveTracks(): FakeTrack[] {
    return this.tracks.filter(({ readyState }) => readyState === 'live');
  }

  plug(kind: Kind, id: string): void {
    if (this.connected.some((device) => device.id === id)) return;
    this.connected.push({ kind, id });
    this.#mediaDevices.dispatchEvent(new Event('devicechange'));
  }

  unplug(id: string): void {
    const index = this.connected.findIndex((device) => device.id === id);
    if (index < 0) return;
    this.connected.splice(index, 1);
    for (const track of this.tracks) if (track.device === id) track.end();
    this.#mediaDevices.dispatchEvent(new Event('devicechange'));
  }

  setPermission(state: PermissionState): void {
    this.permission = state;
    if (state !== 'granted') for (const track of this.tracks) if (track.device !== 'screen') track.end();
    for (const status of this.#statuses) {
      status.state = state;
      status.dispatchEvent(new Event('change'));
    }
  }

  setHidden(hidden: boolean): void {
    this.hidden = hidden;
    this.#document.dispatchEvent(new Event('visibilitychange'));
  }

  /** Answers the oldest prompt. */
  answer(grant: boolean): void {
    const prompt = this.prompts.shift();
    if (!prompt) return;
    if (prompt.for === 'devices' && grant) this.setPermission('granted');
    if (grant) prompt.grant();
    else prompt.deny();
  }

  async #getUserMedia({ audio, video }: MediaStreamConstraints): Promise<MediaStream> {
    this.requests++;
    if (audio) this.micRequests.push(Date.now());
    if (this.permission === 'denied') throw new DOMException('Permission denied', 'NotAllowedError');
    const open = (): MediaStream => {
      if (this.busy) throw new DOMException('Could not start audio source', 'NotReadableError');
      return this.#streamOf([...(audio ? [this.#capture('mic', audio)] : []), ...(video ? [this.#capture('camera', video)] : [])]);
    };
    return this.permission === 'granted' ? open() : this.#prompt('devices', open);
  }

  #prompt(what: Prompt['for'], open: () => MediaStream): Promise<MediaStream> {
    return new Promise((resolve, reject) => {
      const deny = (): void => reject(new DOMException('Permission denied', 'NotAllowedError'));
      const grant = (): void => {
        try {
          resolve(open());
        } catch (error) {
          reject(error);
        }
      };
      this.prompts.push({ for: what, grant, deny });
    });
  }

  #capture(kind: 'mic' | 'camera', constraints: true | MediaTrackConstraints): FakeTrack {
    const wanted = constraints === true ? undefined : (constraints.deviceId as { exact: string } | undefined)?.exact;
    const devices = this.connected.filter((device) => device.kind === kind);
    const device = wanted === undefined ? devices[0] : devices.find(({ id }) => id === wanted && !this.broken.has(id));
    if (!device) throw new DOMException('Not found', wanted === undefined ? 'NotFoundError' : 'OverconstrainedError');
    return new FakeTrack(kind === 'mic' ? 'audio' : 'video', device.id);
  }

  #streamOf(tracks: FakeTrack[]): MediaStream {
    this.tracks.push(...tracks);
    if (this.dying) for (const track of tracks) setTimeout(() => track.end(), 50);
    const of = (kind: string): FakeTrack[] => tracks.filter((track) => track.kind === kind);
    return { getTracks: () => tracks, getAudioTracks: () => of('audio'), getVideoTracks: () => of('video') } as unknown as MediaStream;
  }
}
