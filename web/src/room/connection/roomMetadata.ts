import { type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';

export interface BreakoutRoom {
  /** 0 is the main room. */
  number: number;
  name: string;
}

/** The room metadata, which the server writes for everybody in a session. */
export interface RoomMetadata {
  /** When the room ends, by the server's clock; null before the time has started. */
  endsAt: number | null;
  /** The breakout room of this session; 0 is the main room. */
  breakout: number;
  /** The open breakout rooms. */
  breakouts: readonly BreakoutRoom[];
  /** The features that are locked for guests. */
  locks: Locks;
  /** The identities of the raised hands, in order. */
  hands: readonly string[];
  /** How many hands are raised in the other rooms. */
  handsElsewhere: number;
  /** How many people wait to be admitted. */
  waitingCount: number;
}

export type Lock = 'microphone' | 'camera' | 'screen_share' | 'chat' | 'waiting_room';
export type Locks = Record<Lock, boolean>;

/** Parses the metadata of a session. Fields that are missing or invalid get their default. */
export function readRoomMetadata(metadata: string | undefined): RoomMetadata {
  const fields = parse(metadata);
  const endsAt = typeof fields.ends_at === 'string' ? Date.parse(fields.ends_at) : NaN;
  const open: unknown = fields.breakouts;
  const hands: unknown = fields.hands;
  return {
    endsAt: Number.isFinite(endsAt) ? endsAt : null,
    breakout: typeof fields.breakout === 'number' ? fields.breakout : 0,
    breakouts: Array.isArray(open) ? open.filter(isBreakoutRoom) : [],
    locks: readLocks(fields.locks),
    hands: Array.isArray(hands) ? hands.filter((one) => typeof one === 'string') : [],
    handsElsewhere: typeof fields.hands_elsewhere === 'number' ? fields.hands_elsewhere : 0,
    waitingCount: typeof fields.waiting === 'number' ? fields.waiting : 0,
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
  const [metadata, setMetadata] = useState(() => readRoomMetadata(room.metadata));
  useEffect(() => {
    const read = (): void => setMetadata(readRoomMetadata(room.metadata));
    read();
    room.on(RoomEvent.RoomMetadataChanged, read).on(RoomEvent.Reconnected, read);
    return () => void room.off(RoomEvent.RoomMetadataChanged, read).off(RoomEvent.Reconnected, read);
  }, [room]);
  return metadata;
}
