import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Person } from './browser';

/**
 * Writes an audio file that LiveKit detects as speech into a folder: syllables of changing
 * pitch with a pause every three seconds. The default beep is too short for speech detection,
 * and LiveKit reports speakers only when they change.
 */
export function speech(folder: string): string {
  const rate = 16_000;
  const samples = Int16Array.from({ length: 3 * rate }, (_, i) => {
    const time = i / rate;
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 3 * time)) ** 0.3;
    const pitch = 140 + 60 * Math.sin(2 * Math.PI * 0.7 * time);
    const voice = [1, 2, 3, 5, 8].reduce((sum, n) => sum + Math.sin(2 * Math.PI * n * pitch * time) / n, 0);
    return time < 2.3 ? 6_000 * syllable * voice : 0;
  });
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.byteLength, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.byteLength, 40);
  const path = join(folder, 'speech.wav');
  writeFileSync(path, Buffer.concat([head, Buffer.from(samples.buffer)]));
  return path;
}

/** Makes the connections of a page accessible to the test. */
export async function noteConnections(person: Person): Promise<void> {
  await person.page.addInitScript(() => {
    const all: RTCPeerConnection[] = [];
    Object.assign(globalThis, { connections: all });
    const Usual = RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Usual {
      constructor(configuration?: RTCConfiguration) {
        super(configuration);
        all.push(this);
      }
    };
  });
}

/** Returns how many cameras and screens of others send to a page within a second. */
export const streams = (person: Person): Promise<number> =>
  person.page.evaluate(async () => {
    const { connections } = globalThis as unknown as { connections: RTCPeerConnection[] };
    const received = async (): Promise<Map<string, number>> => {
      const bytes = new Map<string, number>();
      for (const connection of connections) {
        for (const stat of (await connection.getStats()).values() as Iterable<{
          id: string;
          type: string;
          kind: string;
          bytesReceived: number;
        }>) {
          if (stat.type === 'inbound-rtp' && stat.kind === 'video') bytes.set(stat.id, stat.bytesReceived);
        }
      }
      return bytes;
    };
    const before = await received();
    await new Promise((done) => setTimeout(done, 1_000));
    const after = await received();
    return [...after].filter(([id, bytes]) => bytes > (before.get(id) ?? 0)).length;
  });

export const quality = { poor: 0, excellent: 2, lost: 3 } as const;

/**
 * Replaces the connection quality in a signal message of LiveKit (field 12: an id and a
 * number for each participant). Returns undefined for any other message.
 */
export function reword(said: Buffer, number: number): Buffer | undefined {
  if (said[0] !== 0x62 || said[1] !== said.length - 2) return undefined;
  const all: Buffer[] = [];
  for (let at = 2; at < said.length; at += 2 + (said[at + 1] ?? 0)) {
    const id = said.subarray(at + 2, at + 4 + (said[at + 3] ?? 0));
    const one = Buffer.concat([id, Buffer.from([0x10, number])]);
    all.push(Buffer.from([0x0a, one.length]), one);
  }
  const update = Buffer.concat(all);
  return Buffer.concat([Buffer.from([0x62, update.length]), update]);
}
