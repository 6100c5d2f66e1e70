import { RoomEvent, type Participant, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';

/** What this visitor may send. The server holds everybody to it; the page only offers no more. */
export interface Allowed {
  mic: boolean;
  camera: boolean;
  screen: boolean;
}

// The numbers of the protocol, which livekit-client keeps to itself.
const camera = 1;
const microphone = 2;
const screenShare = 3;

export function readAllowed(permissions: Participant['permissions']): Allowed {
  if (!permissions) return { mic: true, camera: true, screen: true };
  const sources: readonly number[] = permissions.canPublishSources;
  const may = (source: number): boolean => permissions.canPublish && (sources.length === 0 || sources.includes(source));
  return { mic: may(microphone), camera: may(camera), screen: may(screenShare) };
}

export function useAllowed(room: Room): Allowed {
  const [allowed, setAllowed] = useState(() => readAllowed(room.localParticipant.permissions));
  useEffect(() => {
    const read = (): void => {
      const now = readAllowed(room.localParticipant.permissions);
      setAllowed((before) => (before.mic === now.mic && before.camera === now.camera && before.screen === now.screen ? before : now));
    };
    read();
    room.on(RoomEvent.ParticipantPermissionsChanged, read);
    return () => void room.off(RoomEvent.ParticipantPermissionsChanged, read);
  }, [room]);
  return allowed;
}

/** Lets go of devices that may not be used: no light burns for nothing. */
export function useLetGo(studio: Studio, { mic, camera, screen }: Desk, allowed: Allowed): void {
  useEffect(() => {
    if (!allowed.mic && mic.is !== 'off') studio.release('mic');
    if (!allowed.camera && camera.is !== 'off') studio.release('camera');
    if (!allowed.screen && screen.is !== 'off') studio.stopSharing();
  }, [studio, mic, camera, screen, allowed]);
}
