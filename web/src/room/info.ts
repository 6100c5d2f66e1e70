import { RoomEvent, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';

export interface Place {
  /** 0 is the room itself. */
  number: number;
  name: string;
}

/** What the server lets everybody in a session read of it. */
export interface RoomInfo {
  /** When the room's time is over, by the server's clock; null before it has begun to run. */
  endsAt: number | null;
  /** The breakout room this session is, 0 for the room itself. */
  breakout: number;
  /** The breakout rooms that are open. */
  breakouts: readonly Place[];
  /** What guests may not do. */
  locks: Locks;
  /** Identities of those whose hand is up, in order. */
  hands: readonly string[];
  /** How many wait to be let in. */
  waiting: number;
}

export type Lock = 'microphone' | 'camera' | 'screen_share' | 'chat' | 'waiting_room';
export type Locks = Record<Lock, boolean>;

/** Reads the metadata of a session; what is missing or unreadable is as if it was not said. */
export function readInfo(metadata: string | undefined): RoomInfo {
  const said = parse(metadata);
  const endsAt = typeof said['ends_at'] === 'string' ? Date.parse(said['ends_at']) : NaN;
  const open: unknown = said['breakouts'];
  const hands: unknown = said['hands'];
  return {
    endsAt: Number.isFinite(endsAt) ? endsAt : null,
    breakout: typeof said['breakout'] === 'number' ? said['breakout'] : 0,
    breakouts: Array.isArray(open) ? open.filter(isPlace) : [],
    locks: readLocks(said['locks']),
    hands: Array.isArray(hands) ? hands.filter((one) => typeof one === 'string') : [],
    waiting: typeof said['waiting'] === 'number' ? said['waiting'] : 0,
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

function isPlace(value: unknown): value is Place {
  const { number, name } = (value ?? {}) as Partial<Place>;
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

export function useInfo(room: Room): RoomInfo {
  const [info, setInfo] = useState(() => readInfo(room.metadata));
  useEffect(() => {
    const read = (): void => setInfo(readInfo(room.metadata));
    read();
    room.on(RoomEvent.RoomMetadataChanged, read).on(RoomEvent.Reconnected, read);
    return () => void room.off(RoomEvent.RoomMetadataChanged, read).off(RoomEvent.Reconnected, read);
  }, [room]);
  return info;
}
