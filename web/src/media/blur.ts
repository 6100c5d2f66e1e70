/** What some browsers know of a camera and TypeScript does not. */
type BlurSettings = { backgroundBlur?: boolean };

/** Whether what is behind is blurred now; null where the visitor cannot choose. */
export function readBlur(track: MediaStreamTrack): boolean | null {
  // Typed as always there; older browsers tell of no capabilities.
  const { backgroundBlur } = (track.getCapabilities?.() ?? {}) as { backgroundBlur?: boolean[] };
  return backgroundBlur?.length === 2 ? ((track.getSettings() as BlurSettings).backgroundBlur ?? false) : null;
}

/** Asks the browser for it; what it cannot do stays as it is. */
export async function applyBlur(track: MediaStreamTrack, on: boolean): Promise<void> {
  await track.applyConstraints({ ...track.getConstraints(), backgroundBlur: on } as MediaTrackConstraints).catch(() => undefined);
}
