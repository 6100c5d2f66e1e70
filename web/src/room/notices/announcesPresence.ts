import { Preference } from '../../state/preference';

/** Whether screen readers are told who joins and leaves. */
export const announcesPresence = new Preference('parley.announce-presence', true);
