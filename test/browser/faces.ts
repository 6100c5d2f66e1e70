import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Person } from './browser';

/** How a drawn person looks. The colors are those of CSS. */
export interface Face {
  wall: string;
  shirt: string;
  skin: string;
  hair: string;
  longHair?: boolean;
  beard?: boolean;
  glasses?: boolean;
  scarf?: string;
  /** The camera of a phone that is held upright. */
  upright?: boolean;
}

export const faces = {
  amina: { wall: '#b9ab9a', shirt: '#274b6d', skin: '#d8a27c', hair: '#3b2417', scarf: '#5b7f8a' },
  bela: { wall: '#c5d2da', shirt: '#7b3f61', skin: '#efc3a8', hair: '#a7612f', longHair: true, upright: true },
  carlos: { wall: '#a9b89f', shirt: '#3c3f44', skin: '#c08c64', hair: '#1c1512', beard: true },
  dana: { wall: '#343a4d', shirt: '#c9c4bb', skin: '#7c4e32', hair: '#0f0b09', longHair: true },
  emil: { wall: '#ddd6cb', shirt: '#2f6d4f', skin: '#e6b997', hair: '#d6c08e', glasses: true },
  fatou: { wall: '#9c8878', shirt: '#d0902f', skin: '#5c3822', hair: '#120c08' },
  goran: { wall: '#2a3138', shirt: '#54658f', skin: '#d6a885', hair: '#6c6c6c', beard: true, glasses: true },
  hana: { wall: '#e3c8ce', shirt: '#f4f4f4', skin: '#ecc6a2', hair: '#15110f', longHair: true, glasses: true },
  ivo: { wall: '#b7c6d3', shirt: '#8a2f2f', skin: '#e2b590', hair: '#4c2d1a' },
} satisfies Record<string, Face>;

/** The functions of a page with drawn pictures. */
interface Drawing {
  camera: (face: Face) => MediaStreamTrack;
  screen: () => MediaStreamTrack;
}

/** Runs in a page, and lets it draw the pictures of cameras and of a screen. */
function installDrawing(): void {
  const portrait = (face: Face, width: number, height: number): OffscreenCanvas => {
    const canvas = new OffscreenCanvas(width + 16, height);
    const context = canvas.getContext('2d');
    if (!context) throw new Error('no 2d context');
    const fill = (color: string, draw: () => void): void => {
      context.fillStyle = color;
      context.beginPath();
      draw();
      context.fill();
    };
    const oval = (x: number, y: number, rx: number, ry: number): void => {
      context.moveTo(x + rx, y);
      context.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
    };

    fill(face.wall, () => context.rect(0, 0, canvas.width, height));
    const light = context.createRadialGradient(width * 0.85, 0, 0, width * 0.85, 0, width);
    light.addColorStop(0, 'rgb(255 250 235 / 0.55)');
    light.addColorStop(1, 'rgb(0 0 0 / 0.2)');
    context.fillStyle = light;
    context.fillRect(0, 0, canvas.width, height);

    // The head has its center at the origin, and is 200 units high.
    context.translate(canvas.width / 2, height * 0.46);
    context.scale(Math.min(width, height) / 390, Math.min(width, height) / 390);
    if (face.longHair) fill(face.hair, () => oval(0, 30, 112, 160));
    fill(face.shirt, () => {
      context.moveTo(-200, 700);
      context.bezierCurveTo(-200, 150, -110, 145, -40, 125);
      context.lineTo(40, 125);
      context.bezierCurveTo(110, 145, 200, 150, 200, 700);
    });
    fill(face.skin, () => context.roundRect(-34, 60, 68, 88, 30));
    fill('rgb(0 0 0 / 0.14)', () => oval(0, 92, 34, 26));
    fill(face.skin, () => {
      oval(0, 0, 80, 104);
      oval(-80, 6, 13, 20);
      oval(80, 6, 13, 20);
    });
    fill(face.hair, () => {
      context.moveTo(-88, 6);
      context.bezierCurveTo(-104, -150, 104, -150, 88, 6);
      context.bezierCurveTo(74, -58, 20, -66, -20, -58);
      context.bezierCurveTo(-60, -52, -76, -34, -88, 6);
    });
    if (face.beard) {
      fill(face.hair, () => {
        context.moveTo(-80, 14);
        context.bezierCurveTo(-76, 138, 76, 138, 80, 14);
        context.bezierCurveTo(56, 52, -56, 52, -80, 14);
      });
    }
    if (face.scarf) {
      context.fillStyle = face.scarf;
      context.beginPath();
      oval(0, 8, 116, 144);
      oval(0, 16, 70, 88);
      context.fill('evenodd');
      fill(face.scarf, () => {
        context.moveTo(-100, 84);
        context.quadraticCurveTo(0, 160, 100, 84);
        context.lineTo(136, 220);
        context.lineTo(-136, 220);
      });
    }
    context.lineWidth = 5;
    context.lineCap = 'round';
    for (const x of [-31, 31]) {
      fill('#fff', () => oval(x, -4, 15, 9));
      fill('#2b1d14', () => oval(x, -4, 7, 7));
      context.strokeStyle = face.hair;
      context.beginPath();
      context.moveTo(x - 15, -26);
      context.quadraticCurveTo(x, -34, x + 15, -26);
      context.stroke();
      if (!face.glasses) continue;
      context.strokeStyle = '#22262b';
      context.beginPath();
      context.roundRect(x - 24, -22, 48, 36, 12);
      context.stroke();
    }
    context.strokeStyle = 'rgb(70 30 20 / 0.45)';
    context.beginPath();
    context.moveTo(2, 8);
    context.quadraticCurveTo(-11, 34, 5, 36);
    context.stroke();
    context.strokeStyle = '#96383d';
    context.beginPath();
    context.moveTo(-26, 60);
    context.quadraticCurveTo(0, 78, 26, 60);
    context.stroke();
    return canvas;
  };

  /** Returns a track of a canvas. A track without new pictures sends nothing. */
  const trackOf = (width: number, height: number, draw: (context: CanvasRenderingContext2D) => void): MediaStreamTrack => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    if (!context) throw new Error('no 2d context');
    draw(context);
    setInterval(draw, 200, context);
    const [track] = canvas.captureStream(5).getVideoTracks();
    if (!track) throw new Error('a canvas without a track');
    return track;
  };

  const drawing: Drawing = {
    camera: (face) => {
      const [width, height] = face.upright ? ([360, 640] as const) : ([640, 360] as const);
      const picture = portrait(face, width, height);
      let count = 0;
      return trackOf(width, height, (context) => context.drawImage(picture, -8 + (count++ % 2), 0));
    },
    screen: () =>
      trackOf(1280, 720, (context) => {
        context.fillStyle = '#fff';
        context.fillRect(0, 0, 1280, 720);
        context.fillStyle = '#1b2a3a';
        context.font = '600 56px sans-serif';
        context.fillText('Roadmap, first quarter', 80, 130);
        context.font = '32px sans-serif';
        const lines = ['Invitations by e-mail, 2 weeks', 'New billing page (design done)', 'Support answers within four hours'];
        for (const [i, line] of lines.entries()) context.fillText(`•  ${line}`, 90, 220 + i * 60);
        const table = [
          ['Region', 'Users', 'Growth'],
          ['Europe', '12,480', '+8.4 %'],
          ['Africa', '9,310', '+21.7 %'],
          ['Americas', '15,022', '+3.1 %'],
        ];
        for (const [y, row] of table.entries()) {
          for (const [x, cell] of row.entries()) {
            context.strokeRect(80 + x * 280, 410 + y * 60, 280, 60);
            context.fillText(cell, 100 + x * 280, 452 + y * 60);
          }
        }
      }),
  };
  Object.assign(globalThis, { drawing });
}

/** Shows a drawn face as the camera of a person, so that pictures look like a meeting and are the same in every run. */
export async function drawCamera(person: Person, face: Face): Promise<void> {
  await person.page.addInitScript(installDrawing);
  await person.page.addInitScript((face: Face) => {
    if (!isSecureContext) return;
    const { drawing } = globalThis as unknown as { drawing: Drawing };
    const usual = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      const stream = await usual(constraints);
      for (const track of stream.getVideoTracks()) {
        stream.removeTrack(track);
        track.stop();
        stream.addTrack(drawing.camera(face));
      }
      return stream;
    };
  }, face);
}

const livekit = resolve(import.meta.dirname, '../../web/node_modules/livekit-client/dist/livekit-client.umd.js');

/** Many people with drawn cameras in one page, which receives nothing: two cores carry no page for each of them. */
export class FakeGuests {
  private constructor(readonly page: Page) {}

  static async gather(browser: Browser, url: string): Promise<FakeGuests> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    await page.evaluate(readFileSync(livekit, 'utf8'));
    await page.evaluate(installDrawing);
    return new FakeGuests(page);
  }

  /** Joins a room as a guest, in an audio room without a face. */
  async join(roomID: string, name: string, face: Face | null): Promise<void> {
    await this.page.evaluate(
      async ({ roomID, name, face }) => {
        const { drawing, LivekitClient, people } = globalThis as unknown as FakeGuestsPage;
        const key = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(30)));
        const answer = await fetch(`/api/join/rooms/${roomID}/seats`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name, role: 'guest', seat_key: btoa(key).replaceAll('+', '-').replaceAll('/', '_') }),
        });
        const { media_token } = (await answer.json()) as { media_token: string };
        const room = new LivekitClient.Room();
        await room.connect(location.origin.replace(/^http/, 'ws'), media_token, { autoSubscribe: false });
        if (face) await room.localParticipant.publishTrack(drawing.camera(face), { source: 'camera', simulcast: false });
        Object.assign(globalThis, { people: { ...people, [name]: room } });
      },
      { roomID, name, face },
    );
  }

  /** Shares a drawn screen as one of the people. */
  async share(name: string): Promise<void> {
    await this.page.evaluate(async (name) => {
      const { drawing, people } = globalThis as unknown as FakeGuestsPage;
      await people[name]?.localParticipant.publishTrack(drawing.screen(), { source: 'screen_share', simulcast: false });
    }, name);
  }

  async stopSharing(name: string): Promise<void> {
    await this.page.evaluate(async (name) => {
      const participant = (globalThis as unknown as FakeGuestsPage).people[name]?.localParticipant;
      const track = participant?.getTrackPublication('screen_share')?.track;
      if (track) await participant?.unpublishTrack(track);
    }, name);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** The part of LiveKit's client that FakeGuests uses. */
interface Room {
  connect(url: string, token: string, options: object): Promise<void>;
  localParticipant: {
    publishTrack(track: MediaStreamTrack, options: object): Promise<unknown>;
    unpublishTrack(track: unknown): Promise<unknown>;
    getTrackPublication(source: string): { track?: unknown } | undefined;
  };
}

interface FakeGuestsPage {
  drawing: Drawing;
  LivekitClient: { Room: new () => Room };
  people: Record<string, Room>;
}
