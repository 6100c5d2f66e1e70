import { describe, expect, test } from 'vitest';
import { type FlowWatch, flowOf, untilNextRead, watchFlow } from './mediaFlow';
import { type PacketWatch, packetsReceived, untilSilent, watchPackets } from './packetWatch';
import { readPublishPermissions } from './publishPermissions';
import { readRoomMetadata } from './roomMetadata';
import { SilenceWatch } from './silence';

describe('the room metadata', () => {
  const unlocked = { microphone: false, camera: false, screen_share: false, chat: false, waiting_room: false };

  test('contains the end, the breakout room and the open breakout rooms', () => {
    const metadata = readRoomMetadata(
      '{"room_type":"video","ends_at":"2026-01-01T10:00:00Z","breakout":2,"breakouts":[{"number":2,"name":"Room 2"}],"locks":{"camera":true,"chat":"x"},"hands":["b",7,"a"],"hands_elsewhere":2,"waiting":3}',
    );
    expect(metadata).toEqual({
      endsAt: Date.UTC(2026, 0, 1, 10),
      breakout: 2,
      breakouts: [{ number: 2, name: 'Room 2' }],
      hands: ['b', 'a'],
      handsElsewhere: 2,
      waitingCount: 3,
      locks: { ...unlocked, camera: true },
    });
  });

  test.each([undefined, '', 'video', 'null', '[]', '{"ends_at":7,"breakout":"x","breakouts":[{"number":"1"},null]}', '{"locks":null}'])(
    'has default values for %j',
    (metadata) =>
      expect(readRoomMetadata(metadata)).toEqual({
        endsAt: null,
        breakout: 0,
        breakouts: [],
        hands: [],
        handsElsewhere: 0,
        waitingCount: 0,
        locks: unlocked,
      }),
  );
});

describe('the publish permissions', () => {
  type Permissions = NonNullable<Parameters<typeof readPublishPermissions>[0]>;
  const permissions = (canPublish: boolean, canPublishSources: number[]): Permissions =>
    ({ canPublish, canPublishSources }) as unknown as Permissions;

  test('follow the permissions of the participant', () => {
    expect(readPublishPermissions(permissions(true, [2]))).toEqual({ mic: true, camera: false, screen: false });
    expect(readPublishPermissions(permissions(true, [1, 3, 4]))).toEqual({ mic: false, camera: true, screen: true });
    expect(readPublishPermissions(permissions(true, []))).toEqual({ mic: true, camera: true, screen: true });
    expect(readPublishPermissions(permissions(false, []))).toEqual({ mic: false, camera: false, screen: false });
  });
});

describe('the packets of a connection', () => {
  /** Reads a count once a second. */
  const watched = (...counts: number[]): PacketWatch =>
    counts.reduce<PacketWatch | null>((watch, count, i) => watchPackets(watch, count, i * 1_000), null) as PacketWatch;

  const isSilent = (watch: PacketWatch, mediaExpected = true): boolean => untilSilent(watch, mediaExpected) <= 0;

  test('are missing two seconds after media flowed', () => {
    expect(isSilent(watched(100, 200, 200, 200))).toBe(false);
    expect(isSilent(watched(100, 200, 200, 200, 200))).toBe(true);
    expect(isSilent(watched(100, 200, 200, 200, 200, 201))).toBe(false);
  });

  test('are missing as soon when they stop between two reads', () => {
    expect(untilSilent(watched(100, 200, 210), true)).toBe(1_200);
  });

  test('may be rare when nobody sends media', () => {
    expect(isSilent(watched(100, 101, 101, 101, 101, 102, 102, 102, 102, 103))).toBe(false);
    expect(isSilent(watched(100, 101, ...Array<number>(8).fill(101)))).toBe(true);
    expect(isSilent(watched(100, 200, 200, 200, 200), false)).toBe(false);
  });

  test('of another connection are counted from the beginning', () => {
    expect(isSilent(watched(100, 200, 200, 200, 50))).toBe(false);
    expect(isSilent(watched(100, 200, 200, 200, 200, 0))).toBe(true);
    expect(isSilent(watched(100, 200, 200, 200, 200, 0, 1))).toBe(false);
  });

  test('include those that keep the connection alive', () => {
    const report = new Map([
      ['a', { type: 'candidate-pair', packetsReceived: 5, requestsReceived: 2, responsesReceived: 3 }],
      ['b', { type: 'inbound-rtp', packetsReceived: 5 }],
      ['c', { type: 'candidate-pair' }],
    ]);
    expect(packetsReceived(report as unknown as RTCStatsReport)).toBe(10);
  });

  test('are unknown in a browser that does not count them, so that its silence means nothing', () => {
    const report = new Map([['a', { type: 'candidate-pair', bytesReceived: 900, state: 'succeeded' }]]);
    expect(packetsReceived(report as unknown as RTCStatsReport)).toBeNull();
  });
});

describe('the media of a participant', () => {
  /** Reads once a second when the microphone and the camera were played last. */
  const flow = (...reads: [mic: number, camera: number][]): string => flowWith(Infinity, ...reads);
  const flowWith = (packetAt: number | null, ...reads: [mic: number, camera: number][]): string => {
    const watch = reads.reduce<FlowWatch | null>(
      (before, [mic, camera], i) =>
        watchFlow(
          before,
          [
            { sid: 'mic', playedAt: mic },
            { sid: 'camera', playedAt: camera },
          ],
          i * 1_000,
        ),
      null,
    );
    return flowOf(watch as FlowWatch, packetAt);
  };

  test('is unknown until some has arrived', () => {
    expect(flow([0, 0], [0, 0], [0, 0], [0, 0], [0, 0])).toBe('unknown');
    expect(flow([0, 0], [1, 0])).toBe('flowing');
  });

  test('stops when neither arrives, and not with a camera alone', () => {
    expect(flow([1, 1], [2, 2], [3, 2], [4, 2], [5, 2], [6, 2])).toBe('flowing');
    expect(flow([1, 1], [2, 2], [2, 2], [2, 2])).toBe('flowing');
    expect(flow([1, 1], [2, 2], [2, 2], [2, 2], [2, 2])).toBe('stopped');
    // A browser forgets what was played long ago.
    expect(flow([1, 1], [2, 2], [0, 0], [0, 0], [0, 0])).toBe('stopped');
  });

  test('is read again when it would count as stopped, and not a full interval later', () => {
    const playing = { arrivals: [], at: 0, changed: true };
    expect([0, 2_400, 2_900, 2_999.9, 3_000].map((readAt) => Math.round(untilNextRead({ ...playing, readAt })))).toEqual([
      500, 500, 100, 0, 500,
    ]);
    expect(untilNextRead(null)).toBe(500);
  });

  test('is unknown while this page receives nothing either', () => {
    const reads: [number, number][] = [
      [1, 1],
      [2, 2],
      [2, 2],
      [2, 2],
      [2, 2],
    ];
    expect(flowWith(null, ...reads)).toBe('unknown');
    expect(flowWith(1_500, ...reads)).toBe('unknown');
    expect(flowWith(2_500, ...reads)).toBe('stopped');
  });

  test('is unknown again when a track is muted', () => {
    const flowing = watchFlow(watchFlow(null, [{ sid: 'mic', playedAt: 1 }], 0), [{ sid: 'mic', playedAt: 2 }], 500);
    expect(flowOf(watchFlow(flowing, [], 5_000), 5_000)).toBe('unknown');
  });
});

test('a microphone is silent after half a minute without any energy, and no longer with its first sound', () => {
  const watch = new SilenceWatch();
  const reads = [1, 1, 1, 1, 1, 1, 1].map((energy) => watch.isSilent(energy));
  expect(reads).toEqual([false, false, false, false, false, false, true]);
  expect(watch.isSilent(1.001)).toBe(false);
  // An unknown energy says nothing.
  expect(Array.from({ length: 10 }, () => watch.isSilent(null))).not.toContain(true);
});
