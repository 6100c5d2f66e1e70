import type { LocalMedia } from '../media/localMedia';
import { isCameraActive, isMicActive } from '../media/mediaState';
import type { Store } from '../state/store';
import type { Runner } from '../visit/runner';
import { notInRoom } from './protocol';

/** The parts of the page that a command uses. */
export interface Commanded {
  runner: Pick<Runner, 'store' | 'dispatch'>;
  localMedia: Pick<LocalMedia, 'state' | 'setMicOn' | 'setCameraOn'>;
}

/**
 * Executes a command as the button of the page does. Returns a sentence that says why it is not
 * done, or null. Turning a device off needs no permission of the room.
 */
export async function execute(command: string, { runner, localMedia }: Commanded): Promise<string | null> {
  if (runner.store.get().visit.at !== 'room') return notInRoom;
  if (command === 'leave') {
    runner.dispatch({ type: 'leave' });
    return null;
  }
  const [known, on, device = ''] = /^(un)?mute(Microphone|Camera)$/.exec(command) ?? [];
  if (!known) return 'The room does not know this command.';
  const { state } = localMedia;
  const isCamera = device === 'Camera';
  const kind = isCamera ? 'camera' : 'mic';
  const name = device.toLowerCase();
  const { video, allowed } = state.get();
  // An audio room has no camera to turn off, and the choice for video rooms stays.
  if (isCamera && !video) return on ? 'This room has no video.' : null;
  if (on && !allowed[kind]) return `The room does not allow this visitor to use the ${name}.`;
  await (isCamera ? localMedia.setCameraOn(!!on) : localMedia.setMicOn(!!on));
  // An earlier request may still open the device.
  while (on && state.get()[kind].is === 'requesting') await nextChange(state);
  const isActive = isCamera ? isCameraActive : isMicActive;
  return !on || isActive(state.get()) ? null : `The ${name} did not start.`;
}

/** Resolves when the value of a store changes. */
const nextChange = (store: Pick<Store<unknown>, 'subscribe'>): Promise<void> =>
  new Promise((resolve) => {
    const unsubscribe = store.subscribe(() => {
      unsubscribe();
      resolve();
    });
  });
