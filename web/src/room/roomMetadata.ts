import { RoomEvent, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';

export interface BreakoutRoom {
  /** 0 is the room itself. */
  number: number;
  name: string;
}

/** What the server lets everybody in a session read of it. */
export interface RoomMetadata {
  /** When the room's time is over, by the server's clock; null before it has begun to run. */
  endsAt: number | null;
  /** The breakout room this session is, 0 for the room itself. */
  breakout: number;
  /** The breakout rooms that are open. */
  breakouts: readonly BreakoutRoom[];
  /** What guests may not do. */
  locks: Locks;
  /** Identities of those whose hand is up, in order. */
  hands: readonly string[];
  /** How many wait to be let in. */
  waitingCount: number;
}

export type Lock = 'microphone' | 'camera' | 'screen_share' | 'chat' | 'waiting_room';
export type Locks = Record<Lock, boolean>;

/** Reads the metadata of a session; what is missing or unreadable is as if it was not said. */
export function readRoomMetadata(metadata: string | undefined): RoomMetadata {
  const fields = parse(metadata);
  const endsAt = typeof fields['ends_at'] === 'string' ? Date.parse(fields['ends_at']) : NaN;
  const open: unknown = fields['breakouts'];
  const hands: unknown = fields['hands'];
  return {
    endsAt: Number.isFinite(endsAt) ? endsAt : null,
    breakout: typeof fields['breakout'] === 'number' ? fields['breakout'] : 0,
    breakouts: Array.isArray(open) ? open.filter(isBreakoutRoom) : [],
    locks: readLocks(fields['locks']),
    hands: Array.isArray(hands) ? hands.filter((one) => typeof one === 'string') : [],
    waitingCount: typeof fields['waiting'] === 'number' ? fields['waiting'] : 0,
  };
}

function readLocks(value: unknown): Locks {
  const { microphone, camera, screen_share, chat, waiting_room } = (value ?? {}) as Partial<Record<Lock, unknown>>;
  return {
    microphone: microphone === true,
    camera: camera === true,
    screen_share: screen_share === true,
    chat: chat === true,
    waiting_room: waiting_room === true,
  };
}

function isBreakoutRoom(value: unknown): value is BreakoutRoom {
  const { number, name } = (value ?? {}) as Partial<BreakoutRoom>;
  return typeof number === 'number' && typeof name === 'string';
}

function parse(json: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function useRoomMetadata(room: Room): RoomMetadata {
  const [metadata, setInfo] = useState(() => readRoomMetadata(room.metadata));
  useEffect(() => {
    const read = (): void => setInfo(readRoomMetadata(room.metadata));
    read();
    room.on(RoomEvent.RoomMetadataChanged, read).on(RoomEvent.Reconnected, read);
    return () => void room.off(RoomEvent.RoomMetadataChanged, read).off(RoomEvent.Reconnected, read);
  }, [room]);
  return metadata;
}
