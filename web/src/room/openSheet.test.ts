import { describe, expect, test } from 'vitest';
import { nothingOpen, openView, toggleTab } from './openSheet';

describe('the open sheet', () => {
  test('is one tab of the panel, which its control closes again', () => {
    const chat = openView(nothingOpen, 'chat', false);
    expect(chat).toEqual({ panel: 'chat', dialog: null });
    expect(toggleTab(chat, 'people').panel).toBe('people');
    expect(toggleTab(chat, 'chat')).toEqual(nothingOpen);
  });

  test('a dialog leaves a panel beside the stage, and replaces one that covers the screen', () => {
    const chat = openView(nothingOpen, 'chat', false);
    expect(openView(chat, 'more', false)).toEqual({ panel: 'chat', dialog: 'more' });
    expect(openView(chat, 'more', true)).toEqual({ panel: null, dialog: 'more' });
    expect(openView({ panel: 'chat', dialog: 'more' }, null, true)).toEqual(chat);
    expect(openView({ panel: null, dialog: 'more' }, 'people', true)).toEqual({ panel: 'people', dialog: null });
  });
});
