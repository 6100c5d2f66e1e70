import { type KeyboardEvent, type ReactElement, useId, useLayoutEffect, useRef } from 'react';
import { t } from '../../messages';
import { isComposing } from '../../ui/composition';
import { Icon } from '../../ui/Icon';
import { Sheet } from '../../ui/Sheet';
import { ChatTab } from '../chat/ChatTab';
import type { Chat } from '../chat/useChat';
import { useMeetingView } from '../meeting';
import { type PanelTab, panelTabs } from '../openSheet';
import { PeopleTab } from '../people/PeopleTab';
import { panelId } from './panelId';
import { RoomTab } from './RoomTab';

const labelKeys = { chat: 'chat.title', people: 'control.people', room: 'panel.room' } as const;

interface Props {
  chat: Chat;
  onClose: () => void;
}

/** The panel next to the people, or over them on small screens: the chat, the people and the room. */
export function SidePanel({ chat, onClose }: Props): ReactElement | null {
  const { open, panelCovers } = useMeetingView();
  if (open.panel === null) return null;
  const Frame = panelCovers ? Covering : Beside;
  return <Frame key={String(panelCovers)} tab={open.panel} chat={chat} onClose={onClose} />;
}

interface FrameProps extends Props {
  tab: PanelTab;
}

function Covering({ tab, chat, onClose }: FrameProps): ReactElement {
  const id = useId();
  return (
    <Sheet title={t(labelKeys[tab])} head={<Tabs id={id} tab={tab} />} className="sheet panel" onClose={onClose}>
      <TabPanel id={id} tab={tab} chat={chat} focusField={false} />
    </Sheet>
  );
}

function Beside({ tab, chat, onClose }: FrameProps): ReactElement {
  const id = useId();
  const aside = useRef<HTMLElement>(null);
  const fromTabs = useRef(false);
  // A control has opened the tab, and the focus follows. With the keys of the tabs it stays there.
  useLayoutEffect(() => {
    const element = aside.current;
    if (!fromTabs.current && !element?.contains(document.activeElement)) {
      element?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
    }
    fromTabs.current = false;
  }, [tab]);
  // Like a dialog: the focus returns to the control that opens it.
  const lastTab = useRef(tab);
  lastTab.current = tab;
  useLayoutEffect(() => {
    const element = aside.current;
    return () => {
      if (element?.contains(document.activeElement)) controlOf(lastTab.current)?.focus();
    };
  }, []);
  return (
    <aside
      ref={aside}
      id={panelId}
      className="panel beside"
      aria-label={t(labelKeys[tab])}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) onClose();
      }}
    >
      <header className="sheet-head">
        <Tabs
          id={id}
          tab={tab}
          onSelect={() => {
            fromTabs.current = true;
          }}
        />
        <button type="button" className="round" aria-label={t('control.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <TabPanel id={id} tab={tab} chat={chat} focusField={!fromTabs.current} />
    </aside>
  );
}

/** The control of a tab; the room has none of its own and is opened from the menu. */
const controlOf = (tab: PanelTab): HTMLElement | null =>
  document.querySelector(`.controls [data-opens=${tab}]`) ?? document.querySelector('.controls [data-opens=more]');

function Tabs({ id, tab, onSelect }: { id: string; tab: PanelTab; onSelect?: () => void }): ReactElement {
  const { unread, openSheet } = useMeetingView();
  const list = useRef<HTMLDivElement>(null);
  const tabs = panelTabs.filter((one) => one !== 'chat' || unread !== null);
  function select(next: PanelTab): void {
    onSelect?.();
    openSheet(next);
    list.current?.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  }
  function onKeyDown(event: KeyboardEvent): void {
    const rightToLeft = document.documentElement.dir === 'rtl';
    const step = { ArrowRight: rightToLeft ? -1 : 1, ArrowLeft: rightToLeft ? 1 : -1 }[event.key];
    const index = step === undefined ? { Home: 0, End: tabs.length - 1 }[event.key] : tabs.indexOf(tab) + step + tabs.length;
    const next = index === undefined ? undefined : tabs[index % tabs.length];
    if (!next) return;
    event.preventDefault();
    select(next);
  }
  return (
    <div ref={list} className="panel-tabs" role="tablist" aria-label={t('panel.label')} onKeyDown={onKeyDown}>
      {tabs.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          id={`${id}-${one}`}
          data-tab={one}
          aria-selected={one === tab}
          aria-controls={one === tab ? `${id}-panel` : undefined}
          tabIndex={one === tab ? 0 : -1}
          onClick={() => select(one)}
        >
          {t(labelKeys[one])}
        </button>
      ))}
    </div>
  );
}

function TabPanel({ id, tab, chat, focusField }: { id: string; tab: PanelTab; chat: Chat; focusField: boolean }): ReactElement {
  return (
    <div id={`${id}-panel`} className="panel-body" data-shows={tab} role="tabpanel" aria-labelledby={`${id}-${tab}`}>
      {tab === 'chat' && <ChatTab chat={chat} focusField={focusField} />}
      {tab === 'people' && <PeopleTab />}
      {tab === 'room' && <RoomTab />}
    </div>
  );
}
