import { Preference } from '../../state/preference';

/** Whether single-key shortcuts are enabled. Visitors with speech control or a tremor turn them off. */
export const shortcutsEnabled = new Preference('parley.keys', true);
