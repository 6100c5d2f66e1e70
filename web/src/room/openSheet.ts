/** The tabs of the side panel. */
export const panelTabs = ['chat', 'people', 'room'] as const;
export type PanelTab = (typeof panelTabs)[number];

/** A dialog over the page. */
export type Dialog = 'more' | 'rooms' | 'leave' | 'end' | 'keys' | 'check';

/** A tab of the side panel or a dialog, which a control opens. Null closes the dialog. */
export type OpenSheet = PanelTab | Dialog | null;

/** The open views: at most one tab and at most one dialog. */
export interface OpenViews {
  panel: PanelTab | null;
  dialog: Dialog | null;
}

export const nothingOpen: OpenViews = { panel: null, dialog: null };

const isPanelTab = (sheet: OpenSheet): sheet is PanelTab => panelTabs.some((tab) => tab === sheet);

/** Opens a tab or a dialog. A dialog replaces a panel that covers the screen itself. */
export function openView({ panel }: OpenViews, sheet: OpenSheet, panelCovers: boolean): OpenViews {
  if (isPanelTab(sheet)) return { panel: sheet, dialog: null };
  return { panel: panelCovers && sheet !== null ? null : panel, dialog: sheet };
}

/** Opens a tab, or closes the panel when that tab is open. */
export const toggleTab = ({ panel }: OpenViews, tab: PanelTab): OpenViews => ({ panel: panel === tab ? null : tab, dialog: null });
