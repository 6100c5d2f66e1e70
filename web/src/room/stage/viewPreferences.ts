import { Preference } from '../../lib/preference';

/** One person large, the others in a strip. */
export const speakerView = new Preference('parley.view.speaker', false);

/** Whether the visitor does without their own tile. */
export const hideSelf = new Preference('parley.view.noSelf', false);

/** Whether the stage does without those who have no picture. */
export const hideWithoutVideo = new Preference('parley.view.facesOnly', false);

/** Some browsers tell that their owner pays for every byte. */
const { connection } = navigator as { connection?: { saveData?: boolean } };

/** Whether the cameras of the others stay off, and one's own is sent small. */
export const saveData = new Preference('parley.saveData', connection?.saveData === true);
