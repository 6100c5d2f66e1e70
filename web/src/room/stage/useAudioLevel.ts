import { type Participant, type Room, RoomEvent } from 'livekit-client';
import { type RefObject, useEffect } from 'react';

/**
 * Sets --level and data-speaking of an element by a participant's audio level, without
 * rendering anything else.
 */
export function useAudioLevel(room: Room, participant: Participant, element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const update = (): void => {
      const target = element.current;
      if (!target) return;
      // The square root makes quiet voices visible.
      const level = participant.isSpeaking ? Math.sqrt(participant.audioLevel) : 0;
      target.style.setProperty('--level', level.toFixed(2));
      target.toggleAttribute('data-speaking', participant.isSpeaking);
    };
    update();
    room.on(RoomEvent.ActiveSpeakersChanged, update);
    return () => void room.off(RoomEvent.ActiveSpeakersChanged, update);
  }, [room, participant, element]);
}
