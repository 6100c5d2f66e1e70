import { Preference } from '../../state/preference';

/** Shows one person large and the others in a strip. */
export const speakerView = new Preference('parley.view.speaker', false);

/** Whether the visitor's own tile is hidden. */
export const hideSelf = new Preference('parley.view.noSelf', false);

/** Whether people without video are hidden. */
export const hideWithoutVideo = new Preference('parley.view.facesOnly', false);

/** Some browsers report that the visitor wants to save data. */
const { connection } = navigator as { connection?: { saveData?: boolean } };

/** Whether the cameras of others stay off and the own camera is sent in low quality. */
export const saveData = new Preference('parley.saveData', connection?.saveData === true);
