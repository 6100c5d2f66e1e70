import { type Command, type FrameMessage, notInRoom } from '../src/embed/protocol';
import { frameAddress, originOf } from './address';
import { Commands } from './commands';

export type RoomState = 'outside' | 'inside' | 'ended';

/** The permissions of the frame. Without them the browser gives it no devices. */
const allow = 'camera; microphone; display-capture; autoplay; fullscreen; picture-in-picture; clipboard-write; screen-wake-lock';

const styles =
  ':host { display: block; height: 40rem } :host([hidden]) { display: none } iframe { display: block; width: 100%; height: 100%; border: 0 }';

/** Properties that are attributes, too. Those of every element, such as `lang`, need no accessor. */
const properties = ['link', 'room', 'token', 'server', 'name'] as const;

/** Only while the script runs, the browser tells where it came from. */
const scriptOrigin = originOf(document.currentScript);

/** The room that is shown in the frame. */
interface Shown {
  frame: HTMLIFrameElement;
  /** Whether the frame is loading a page: first that of the room, and later the one after an unloaded page. */
  loading: boolean;
  address: URL;
  commands: Commands;
}

/**
 * The element `parley-room`, which shows a room in a frame. Its events and properties are about
 * this visitor and contain no names, links or tokens.
 */
export class ParleyRoom extends HTMLElement {
  static readonly observedAttributes = ['link', 'room', 'token', 'server', 'title', 'aria-label'];

  #shown: Shown | null = null;
  #shownPlace: string | null = null;
  #updatePlanned = false;
  #state: RoomState = 'outside';
  #people = 0;
  #microphoneMuted = true;
  #cameraMuted = true;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    try {
      // A policy of the page against inline styles does not apply to such a sheet.
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
      root.adoptedStyleSheets = [sheet];
    } catch {
      // Safari before 16.4.
      root.append(Object.assign(document.createElement('style'), { textContent: styles }));
    }
  }

  /** Where the visitor is: `ended` means that the room is over. */
  get state(): RoomState {
    return this.#state;
  }

  /** How many people are in the room, the visitor included; 0 while the visitor is not in it. */
  get people(): number {
    return this.#people;
  }

  get microphoneMuted(): boolean {
    return this.#microphoneMuted;
  }

  get cameraMuted(): boolean {
    return this.#cameraMuted;
  }

  get link(): string | null {
    return this.getAttribute('link');
  }

  set link(value: string | null) {
    this.#reflect('link', value);
  }

  get room(): string | null {
    return this.getAttribute('room');
  }

  set room(value: string | null) {
    this.#reflect('room', value);
  }

  get token(): string | null {
    return this.getAttribute('token');
  }

  set token(value: string | null) {
    this.#reflect('token', value);
  }

  get server(): string | null {
    return this.getAttribute('server');
  }

  set server(value: string | null) {
    this.#reflect('server', value);
  }

  get name(): string | null {
    return this.getAttribute('name');
  }

  set name(value: string | null) {
    this.#reflect('name', value);
  }

  muteMicrophone(): Promise<void> {
    return this.#send('muteMicrophone');
  }

  unmuteMicrophone(): Promise<void> {
    return this.#send('unmuteMicrophone');
  }

  muteCamera(): Promise<void> {
    return this.#send('muteCamera');
  }

  unmuteCamera(): Promise<void> {
    return this.#send('unmuteCamera');
  }

  /** Leaves the room, which continues for the others. */
  leave(): Promise<void> {
    return this.#send('leave');
  }

  connectedCallback(): void {
    // A page may have set properties before this class was loaded.
    for (const property of properties) {
      if (!Object.getOwnPropertyDescriptor(this, property)) continue;
      const value = this[property];
      delete (this as Partial<Record<typeof property, string | null>>)[property];
      this[property] = value;
    }
    addEventListener('message', this.#receive);
    this.#planUpdate();
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#receive);
    this.#clear();
  }

  attributeChangedCallback(): void {
    this.#planUpdate();
  }

  /** Attributes that are set one after another load the frame once. */
  #planUpdate(): void {
    if (this.#updatePlanned) return;
    this.#updatePlanned = true;
    queueMicrotask(() => {
      this.#updatePlanned = false;
      if (this.isConnected) this.#update();
    });
  }

  #reflect(attribute: string, value: string | null | undefined): void {
    if (value === null || value === undefined) this.removeAttribute(attribute);
    else this.setAttribute(attribute, value);
  }

  /** Makes the frame show what the attributes say. */
  #update(): void {
    const place = this.#place();
    if (place !== this.#shownPlace) {
      this.#clear();
      this.#shownPlace = place;
      this.#show();
    }
    if (this.#shown) this.#shown.frame.title = this.getAttribute('aria-label') || this.title || 'Meeting';
  }

  /** Returns a key of the attributes that decide which room is shown. Name and language do not load a room anew. */
  #place(): string {
    const { link, room, token, server } = this;
    return JSON.stringify([link, room, token, server]);
  }

  #show(): void {
    const address = this.#address();
    if (!address) return;
    // A new frame, because a new address in the old one would be an entry in the history of the page.
    const frame = document.createElement('iframe');
    frame.allow = allow;
    // The room replies to the origin that the browser reveals.
    frame.referrerPolicy = 'origin';
    frame.src = address.href;
    const commands = new Commands((message) => frame.contentWindow?.postMessage(message, address.origin));
    const shown = { frame, address, commands, loading: true };
    frame.addEventListener('load', () => this.#receiveLoad(shown));
    this.#shown = shown;
    this.shadowRoot?.append(frame);
  }

  #address(): URL | null {
    const { link, room, token, server, name, lang } = this;
    try {
      return frameAddress({ link, room, token, server, name, lang }, scriptOrigin);
    } catch (error) {
      console.error(error);
      return null;
    }
  }

  /** Removes the frame, which ends the visit. */
  #clear(): void {
    this.#shown?.frame.remove();
    this.#shown?.commands.cancel();
    this.#shown = null;
    this.#shownPlace = null;
    this.#reset('outside');
  }

  #reset(state: RoomState): void {
    this.#state = state;
    this.#people = 0;
    this.#microphoneMuted = this.#cameraMuted = true;
  }

  async #send(command: Command): Promise<void> {
    if (!this.#shown || this.#state !== 'inside') throw new Error(notInRoom);
    await this.#shown.commands.send(command);
  }

  /** Ends the visit if the frame was loaded again and the earlier page could not say so, for example after a crash. */
  #receiveLoad(shown: Shown): void {
    const { loading } = shown;
    shown.loading = false;
    if (loading || this.#shown !== shown || this.#state !== 'inside') return;
    this.#reset('outside');
    this.#emit('left', { reason: 'unloaded' });
  }

  readonly #receive = ({ source, origin, data }: MessageEvent<FrameMessage | null>): void => {
    if (!this.#shown || source !== this.#shown.frame.contentWindow || origin !== this.#shown.address.origin) return;
    if (data?.source !== 'parley') return;
    switch (data.type) {
      case 'reply':
        this.#shown.commands.settle(data);
        break;
      case 'joined':
        this.#state = 'inside';
        this.#emit('joined');
        break;
      case 'left':
      case 'ended':
        this.#shown.loading = data.reason === 'unloaded';
        this.#reset(data.type === 'left' ? 'outside' : 'ended');
        this.#emit(data.type, { reason: data.reason });
        break;
      case 'people':
        this.#people = data.count;
        this.#emit('people', { count: data.count });
        break;
      case 'mute':
        this.#microphoneMuted = data.microphone;
        this.#cameraMuted = data.camera;
        this.#emit('mute', { microphone: data.microphone, camera: data.camera });
        break;
    }
  };

  #emit(type: string, detail?: object): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
  }
}
