/** Settings that some browsers support and TypeScript does not know. */
type BlurSettings = { backgroundBlur?: boolean };

/** Returns whether the background is blurred; null when the browser offers no choice. */
export function readBlur(track: MediaStreamTrack): boolean | null {
  // The type says that it always exists; older browsers do not have it.
  const { backgroundBlur } = (track.getCapabilities?.() ?? {}) as { backgroundBlur?: boolean[] };
  return backgroundBlur?.length === 2 ? ((track.getSettings() as BlurSettings).backgroundBlur ?? false) : null;
}

/** Switches the blur of the background. Nothing happens when the browser does not support it. */
export async function applyBlur(track: MediaStreamTrack, on: boolean): Promise<void> {
  await track.applyConstraints({ ...track.getConstraints(), backgroundBlur: on } as MediaTrackConstraints).catch(() => undefined);
}
