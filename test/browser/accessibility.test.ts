import { describe, expect, test } from 'vitest';
import { ar } from '../../web/src/messages/ar';
import { de } from '../../web/src/messages/de';
import { en } from '../../web/src/messages/en';
import { desktop, type Look, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const across = { width: 844, height: 390 };

// The tests show every view in light, in dark and from right to left, and on each kind of screen.
const looks = [
  { name: 'phone-light', lang: 'en', viewport: phone, dark: false, words: en },
  { name: 'across-dark', lang: 'en', viewport: across, dark: true, words: en },
  { name: 'desktop-dark-ar', lang: 'ar', viewport: desktop, dark: true, words: ar },
] satisfies (Look & { name: string; lang: string; words: object })[];

type Words = (typeof looks)[number]['words'];
/** A message that is the same for every number. */
type Plain = { [K in keyof Words]: (typeof en)[K] extends string ? K : never }[keyof Words];

const errorPages = [
  { view: 'full', status: 409, code: 'room_full', max_participants: 100 },
  { view: 'not-open', status: 409, code: 'room_not_open' },
  { view: 'unknown', status: 404, code: 'room_not_found' },
  { view: 'closed', status: 403, code: 'project_inactive' },
  { view: 'invitation', status: 403, code: 'invitation_required' },
  { view: 'removed', status: 403, code: 'removed' },
  { view: 'attempts', status: 429, code: 'too_many_attempts' },
  { view: 'out-of-step', status: 400, code: 'invalid_request' },
  ...['host', 'cancelled'].map((reason) => ({
    view: `ended-${reason}`,
    status: 410,
    code: 'room_ended',
    reason,
  })),
];

describe.each(looks)('$name', (look) => {
  const view = (name: string): string => `${look.name}-${name}`;
  const inIt = (link: string): string => {
    const url = new URL(link);
    url.searchParams.set('lang', look.lang);
    return url.href;
  };
  const press = (person: Person, key: Plain) => person.button(look.words[key] as string).click();

  /** Opens a link and joins with any label of the button. */
  async function enter(person: Person, link: string, name?: string): Promise<void> {
    await person.open(inIt(link));
    if (name !== undefined) await person.page.locator('.lobby-form input[autocomplete=name]').fill(name);
    await person.page.locator('.lobby-join button').click();
    await person.page.locator('.controls').waitFor();
  }

  test('every error page is accessible and fits the screen', async () => {
    const room = await server.createMeeting({});
    const person = await Person.arrive(browser, look);
    const { page } = person;
    const shows = async (name: string): Promise<void> => {
      await page.locator('h1').waitFor();
      expect(await page.locator('html').getAttribute('lang')).toBe(look.lang);
      await person.seen(view(name));
    };

    await person.open(`${server.url}/room?lang=${look.lang}`);
    await shows('not-a-link');
    await person.open(inIt(`${room.guest_link}#t=nobody-made-this`));
    await shows('wrong-link');

    for (const { view: name, status, code, ...more } of errorPages) {
      await page.route('**/preview', (route) =>
        route.fulfill({ status, headers: { 'retry-after': '42' }, json: { error: { code, message: code, request_id: 'r', ...more } } }),
      );
      await person.open('about:blank'); // the same address again would load nothing
      await person.open(inIt(room.guest_link));
      await shows(name);
      await page.unroute('**/preview');
    }

    await page.route('**/preview', async (route) => {
      const answer = await route.fetch();
      const preview = (await answer.json()) as { you: object };
      await route.fulfill({ response: answer, json: { ...preview, you: { ...preview.you, link: 'expired' } } });
    });
    await person.open('about:blank');
    await person.open(inIt(`${room.guest_link}#t=it-was-once`));
    await shows('expired-link');
    await page.unroute('**/preview');

    await page.route('**/preview', (route) => route.abort());
    await person.open('about:blank');
    await person.open(inIt(room.guest_link));
    await shows('unreachable');
    await page.unroute('**/preview');
    await person.close();
  });

  test('every first view is accessible and fits the screen', async () => {
    const later = await server.createMeeting({}, { start: new Date(Date.now() + 2 * 86_400_000) });
    const now = await server.createMeeting({});
    const person = await Person.arrive(browser, look);
    const { page } = person;

    await person.open(inIt(now.final_link));
    await page.locator('.preview video').waitFor();
    await page.locator('.meter').waitFor();
    await person.seen(view('lobby'));

    await person.open(inIt(later.guest_link));
    await page.locator('.countdown').waitFor();
    await page.locator('.lobby-form input[autocomplete=name]').fill('Benedikta von Hohenstein-Langenfeld');
    await person.seen(view('early'));
    await page.locator('.lobby-join button').click();
    await page.locator('.lobby-join .pressed').waitFor();
    await person.seen(view('waiting'));
    await closeAll([person]);
  });

  test('the room, and every dialog in it, is accessible and fits the screen', async () => {
    const room = await server.createMeeting({ breakouts: 4 }, { logout_url: 'https://example.org/thanks' });
    const host = await Person.arrive(browser, look);
    const guest = await Person.arrive(browser, look);
    const { page } = host;
    const narrow = look.viewport !== desktop;
    const seen = (name: string): Promise<void> => host.seen(view(name));
    const closed = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    };
    const closePanel = async (): Promise<void> => {
      await press(host, 'control.close');
      await page.locator('.panel').waitFor({ state: 'detached' });
    };
    const openRoomTab = async (): Promise<void> => {
      await press(host, 'control.more');
      await press(host, 'more.room');
    };
    const openPeople = async (): Promise<void> => {
      if (narrow) await press(host, 'control.more');
      // The first button of the menu, or the only control with a number.
      await (narrow ? page.locator('.sheet-body > .wide').first() : page.locator('.control:has(.control-number)')).click();
      await page.locator('.roster').waitFor();
    };

    await enter(host, room.final_link);
    await page.locator('.empty-room').waitFor();
    await seen('alone');
    await enter(guest, room.guest_link, 'Benedikta von Hohenstein-Langenfeld');
    await page.locator('.tile').nth(1).waitFor();
    await host.untilSeen();
    await seen('together');

    await press(host, 'chat.title');
    await page.locator('.chat-composer textarea').waitFor();
    await seen('chat-empty');
    for (const text of [
      'Good morning',
      'Read https://example.org/agenda first, it is not long, and it says what we talk about.',
      'صباح الخير',
    ]) {
      await page.locator('.chat-composer textarea').fill(text);
      await page.keyboard.press('Enter');
      await page.locator('.chat-line', { hasText: text.slice(0, 12) }).waitFor();
    }
    await page.locator('.chat-reply').first().click();
    await seen('chat');
    await closePanel();

    await press(host, narrow ? 'control.more' : 'react.title');
    await page.locator('.reaction-row').waitFor();
    await seen(narrow ? 'more' : 'react');
    await page.keyboard.press('Escape');
    await page.locator('.reaction-row').waitFor({ state: 'detached' });
    await press(host, 'hand.raise');
    await page.locator('.control.on').waitFor();
    await seen('hand');
    await openPeople();
    await seen('people');
    await page.locator('.roster-row .round').click();
    await seen('person');
    await page.locator('.roster-row .tool-panel .wrong').click();
    await seen('remove');
    await press(host, 'moderation.remove.cancel');
    await page.locator('.roster-row .tool-panel').getByRole('button', { name: look.words['moderation.mute'], exact: true }).click();
    await guest.page.locator('.dismissible').waitFor();
    await guest.seen(view('muted-by-host'));
    await press(host, 'moderation.locks');
    await page.locator('.panel [role=switch]').first().waitFor();
    await seen('locks');
    await press(host, 'rooms.title');
    await page.locator('.assign-row').waitFor();
    await seen('rooms');
    await closed();
    await press(host, 'control.more');
    if (!narrow) await seen('more');
    await press(host, 'keys.title');
    await page.locator('kbd').first().waitFor();
    await seen('keys');
    await closed();
    await openRoomTab();
    await press(host, 'end.open');
    await seen('end');
    await closed();

    await openPeople();
    await page.locator('.roster-row .round').click();
    await page.locator('.roster-row .tool-panel .wrong').click();
    await page.locator('.roster-row .tool-panel .final').click();
    await guest.page.locator('h1', { hasText: look.words['removed.title'] }).waitFor();
    await guest.seen(view('removed-now'));
    await closePanel();

    await press(host, 'control.leave');
    await page.locator('.redirect').waitFor();
    await seen('left');
    await closeAll([host]);
    await guest.close();
  });
});

test('a blocked sound is announced, and the button turns it on', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  // Browsers do this to pages that nobody has used yet, such as a page in a frame that joins by itself.
  await ben.page.addInitScript(() => {
    const play = HTMLAudioElement.prototype.play;
    const block = { on: true };
    Object.assign(globalThis, { block });
    HTMLAudioElement.prototype.play = function (this: HTMLAudioElement) {
      return block.on ? Promise.reject(new DOMException('play() failed', 'NotAllowedError')) : play.call(this);
    };
  });
  await ben.join(room.guest_link, 'Ben');
  // Screen readers say what appears in a region that they already know.
  const regions = ben.page.locator('.toasts').getByRole('status');
  const all = await ben.page.locator('.toasts [role=status]').count();
  await expect.poll(() => regions.count()).toBe(all);
  await host.join(room.final_link);
  await regions.getByText(en['room.soundOff']).waitFor();
  await ben.seen('phone-light-sound-blocked');
  await ben.page.evaluate(() => {
    (globalThis as unknown as { block: { on: boolean } }).block.on = false;
  });
  await ben.button(en['room.soundOn']).click();
  await regions.getByText(en['room.soundOff']).waitFor({ state: 'detached' });
  await ben.untilHeard();
  await closeAll([host, ben]);
});

test('the keyboard stops at no empty element, and stays in a dialog whose button is gone', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser, { smallCamera: true });
  const { page } = host;
  await host.join(room.final_link);
  await host.button('Copy guest link').focus();
  await page.keyboard.press('Tab');
  // The notices come after it. Without one, nothing is left, and the page begins again.
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('');

  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  await host.button('Open 2 rooms').focus();
  await page.keyboard.press('Enter');
  await host.button('Close all breakout rooms').waitFor();
  await expect.poll(() => page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).evaluate(isFocused)).toBe(true);
  await host.button('Close all breakout rooms').focus();
  await page.keyboard.press('Enter');
  await host.button('Open 2 rooms').waitFor();
  await expect.poll(() => page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).evaluate(isFocused)).toBe(true);
  await closeAll([host]);
});

const isFocused = (element: Element): boolean => element === document.activeElement;

test('names of tabs are whole in German and with large text, and the controls stay beside the panel', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { smallCamera: true, locale: 'de' });
  const { page } = host;
  await host.open(room.final_link);
  await host.button(de['lobby.join']).click();
  await host.button(new RegExp(`^${de['control.people']}`)).click();
  const panel = page.locator('.panel');
  await panel.waitFor();
  const tabs = page.getByRole('tab');
  await expect.poll(() => tabs.count()).toBe(3);
  const controls = page.locator('.controls > :is(.control, .control-group)');
  await controls.first().waitFor();
  for (const size of ['100%', '200%']) {
    await page.evaluate((size) => {
      document.documentElement.style.fontSize = size;
    }, size);
    for (const tab of await tabs.all()) {
      expect(await tab.evaluate((it) => it.scrollWidth - it.clientWidth), `${size}: ${await tab.innerText()}`).toBeLessThanOrEqual(0);
    }
    const end = (await panel.boundingBox())?.x ?? 0;
    for (const control of await controls.all()) {
      const box = await control.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= end, `${size}: ${await control.innerText()}`).toBe(true);
    }
  }
  await host.seen('panel-large-text');
  await closeAll([host]);
});
