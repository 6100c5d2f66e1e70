import { Preference } from '../../lib/preference';

/** Whether single keys do something. Who speaks to their computer, or whose hands shake, turns them off. */
export const shortcutsEnabled = new Preference('parley.keys', true);
