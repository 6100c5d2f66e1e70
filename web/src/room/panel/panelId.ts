/** The id of the side panel, to which its controls refer. */
export const panelId = 'panel';
