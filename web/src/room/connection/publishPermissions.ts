import { type Participant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import type { LocalMedia } from '../../media/localMedia';
import type { MediaState } from '../../media/mediaState';

/** The tracks that the visitor may publish. The server enforces it; the page only hides the controls. */
export interface PublishPermissions {
  mic: boolean;
  camera: boolean;
  screen: boolean;
}

// The values of the protocol's TrackSource, which livekit-client does not export.
const camera = 1;
const microphone = 2;
const screenShare = 3;

export function readPublishPermissions(permissions: Participant['permissions']): PublishPermissions {
  if (!permissions) return { mic: true, camera: true, screen: true };
  const sources: readonly number[] = permissions.canPublishSources;
  const isAllowed = (source: number): boolean => permissions.canPublish && (sources.length === 0 || sources.includes(source));
  return { mic: isAllowed(microphone), camera: isAllowed(camera), screen: isAllowed(screenShare) };
}

export function usePublishPermissions(room: Room): PublishPermissions {
  const [allowed, setAllowed] = useState(() => readPublishPermissions(room.localParticipant.permissions));
  useEffect(() => {
    const read = (): void => {
      const now = readPublishPermissions(room.localParticipant.permissions);
      setAllowed((before) => (before.mic === now.mic && before.camera === now.camera && before.screen === now.screen ? before : now));
    };
    read();
    room.on(RoomEvent.ParticipantPermissionsChanged, read);
    return () => void room.off(RoomEvent.ParticipantPermissionsChanged, read);
  }, [room]);
  return allowed;
}

/** Closes devices that may not be used, so that no camera light stays on, and withdraws requests for them. */
export function useReleaseForbiddenDevices(localMedia: LocalMedia, { mic, camera, screen }: MediaState, allowed: PublishPermissions): void {
  useEffect(() => {
    localMedia.setAllowed({ mic: allowed.mic, camera: allowed.camera });
    if (!allowed.screen) localMedia.stopSharing();
  }, [localMedia, mic, camera, screen, allowed]);
}
