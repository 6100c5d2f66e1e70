import { describe, expect, test } from 'vitest';
import { audible, desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

/** The same link, with a query before its token. */
function asking(link: string, query: Record<string, string>): string {
  const url = new URL(link);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url.href;
}

const words = {
  ar: {
    heard: 'الميكروفون يعمل.',
    join: 'انضمام',
    alone: 'أنت أول الحاضرين',
    more: 'المزيد',
    room: 'تفاصيل الغرفة',
    people: 'الأشخاص',
    leave: 'مغادرة',
    left: 'غادرت الغرفة',
    end: 'إنهاء للجميع…',
    rooms: 'الغرف الفرعية',
    keys: 'اختصارات لوحة المفاتيح',
  },
  de: {
    heard: 'Ihr Mikrofon funktioniert.',
    join: 'Beitreten',
    alone: 'Sie sind die erste Person hier',
    more: 'Mehr',
    room: 'Raumdetails',
    people: 'Personen',
    leave: 'Verlassen',
    left: 'Sie haben den Raum verlassen',
    end: 'Für alle beenden …',
    rooms: 'Gruppenräume',
    keys: 'Tastenkürzel',
  },
  tr: {
    heard: 'Mikrofonunuz çalışıyor.',
    join: 'Katıl',
    alone: 'İlk gelen sizsiniz',
    more: 'Diğer',
    room: 'Oda ayrıntıları',
    people: 'Kişiler',
    leave: 'Ayrıl',
    left: 'Odadan ayrıldınız',
    end: 'Herkes için kapat…',
    rooms: 'Ara odalar',
    keys: 'Klavye kısayolları',
  },
};

// Arabic is seen on every kind of screen (accessibility.test.ts has it on another one);
// the others where their words are longest and the screen is small, or dark.
const cases = [
  { lang: 'ar' as const, look: { name: 'phone-light', viewport: phone, dark: false } },
  { lang: 'ar' as const, look: { name: 'phone-across', viewport: { width: 844, height: 390 }, dark: false } },
  { lang: 'de' as const, look: { name: 'phone-light', viewport: phone, dark: false } },
  { lang: 'tr' as const, look: { name: 'desktop-dark', viewport: desktop, dark: true } },
];

describe.each(cases)('$lang, $look.name', ({ lang, look }) => {
  const say = words[lang];
  const view = (name: string): string => `${lang}-${look.name}-${name}`;

  test('every view is right, passes axe and fits the screen', async () => {
    const room = await server.createMeeting({ breakouts: 2 });
    const host = await Person.arrive(browser, look);
    const guest = await Person.arrive(browser, look);
    const { page } = host;

    await host.open(asking(room.final_link, { lang }));
    await page.getByText(say.heard).waitFor();
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
      lang,
      lang === 'ar' ? 'rtl' : 'ltr',
    ]);
    await host.seen(view('before'));

    await host.button(say.join).click();
    await page.getByText(say.alone).waitFor();
    await host.seen(view('alone'));

    await guest.join(room.guest_link, lang === 'ar' ? 'Benedikta von Hohenstein-Langenfeld' : 'أمينة بنت عبد الرحمن');
    await page.locator('.tile').nth(1).waitFor();
    await host.untilHeard();
    await host.seen(view('together'));

    await host.button(say.more).click();
    await host.seen(view('more'));
    await host.button(say.room).click();
    await host.seen(view('room'));
    await host.button(say.rooms).click();
    await page.locator('.assign-row').waitFor();
    await host.seen(view('rooms'));
    await page.keyboard.press('Escape');
    await host.button(say.more).click();
    await host.button(say.room).click();
    await host.button(say.end).click();
    await host.seen(view('end'));
    await page.keyboard.press('Escape');
    if (look.viewport === desktop) {
      await host.button(new RegExp(say.people)).click();
      await host.seen(view('people'));
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: say.keys }).waitFor();
      await host.seen(view('keys'));
      await page.keyboard.press('Escape');
    }

    await host.button(say.leave).click();
    await host.seen(view('leave'));
    await page.getByRole('dialog').getByRole('button', { name: say.leave, exact: true }).click();
    await page.getByRole('heading', { name: say.left }).waitFor();
    await host.seen(view('left'));
    await guest.close();

    server.request('end_room', { room_id: room.room_id });
    await page.reload();
    await page.locator('h1').waitFor();
    await host.seen(view('ended'));
    await closeAll([host], /410/);
  });

  test('the countdown is right, passes axe and fits the screen', async () => {
    const room = await server.schedule(new Date(Date.now() + 27 * 3_600_000));
    const person = await Person.arrive(browser, look);
    await person.open(asking(room.guest_link, { lang }));
    await person.page.locator('.countdown').waitFor();
    await person.seen(view('countdown'));
    await person.close();
  });
});

describe('the language', () => {
  test('is that of the browser, and no text in another language is shown before', async () => {
    const room = await server.createRoom();
    const person = await Person.arrive(browser, { locale: 'fr-CA' });
    await person.page.addInitScript(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => seen.push(document.getElementById('page')?.innerText ?? '')).observe(document, {
        childList: true,
        subtree: true,
        characterData: true,
      });
    });
    await person.open(room.guest_link);
    await person.button('Rejoindre').waitFor();
    const seen = await person.page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen.join('\n'));
    expect(seen).toContain('Votre nom');
    expect(seen).not.toMatch(/Join|Your name|Opening/);
    const files = person.requests.flatMap((url) => /\/assets\/(ar|de|en|es|fr|tr)-/.exec(url)?.[1] ?? []);
    expect([...new Set(files)]).toEqual(['fr']);
    await person.close();
  });

  test('is changed at once, remembered, and can be set in the address', async () => {
    const room = await server.createRoom();
    const person = await Person.arrive(browser, { locale: 'pt-BR' });
    const { page } = person;
    await person.open(asking(room.guest_link, { lang: 'de', name: 'Ana Müller' }));
    await person.button('Beitreten').waitFor();
    expect(await page.getByLabel('Ihr Name').inputValue()).toBe('Ana Müller');

    await page.getByLabel('Sprache').selectOption('Español');
    await person.button('Unirse').waitFor();
    expect(await page.getByLabel('Tu nombre').inputValue()).toBe('Ana Müller');
    expect(page.url()).not.toContain('lang=');
    await page.reload();
    await person.button('Unirse').waitFor();

    // In the room the words change under people's feet, and nobody is cut off.
    await person.button('Unirse').click();
    await person.button('Más').click();
    await page.getByLabel('Idioma').selectOption('العربية');
    await page.getByRole('heading', { name: 'المزيد' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl');
    await page.keyboard.press('Escape');
    await person.button('مغادرة').waitFor();

    await person.open(asking(room.guest_link, { lang: 'tr' }));
    await person.button('Yeniden katıl').waitFor();
    await person.open(room.guest_link);
    await person.button('الانضمام من جديد').waitFor();
    await closeAll([person]);
  });

  test('can be set in the fragment, which no server sees', async () => {
    const room = await server.createRoom();
    const person = await Person.arrive(browser);
    await person.open(`${room.guest_link}#lang=fr&name=Ana`);
    await person.button('Rejoindre').waitFor();
    expect(await person.page.getByLabel('Votre nom').inputValue()).toBe('Ana');
    expect(person.requests.filter((url) => url.includes('Ana') && !url.includes('#'))).toEqual([]);
    await person.close();
  });
});

describe('keys', () => {
  test('do what their list says, not while a visitor types, and can be turned off', async () => {
    const room = await server.createMeeting({ breakouts: 2 });
    const host = await Person.arrive(browser);
    const { page } = host;
    await host.join(room.final_link);
    await host.button('Mute').waitFor();
    await page.keyboard.press('m');
    await host.button('Unmute').waitFor();
    await page.keyboard.press('Control+m');
    await page.keyboard.press('v');
    await host.button('Start camera').waitFor();
    await host.button('Unmute').waitFor();

    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'People', exact: true }).waitFor();
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'People', exact: true }).waitFor({ state: 'detached' });
    await page.keyboard.press('o');
    await page.getByRole('heading', { name: 'More', exact: true }).waitFor();
    // An open dialog receives the keys instead of the room.
    await page.keyboard.press('m');
    await page.keyboard.press('Escape');
    await host.button('Unmute').waitFor();

    await page.locator('.invite-link').focus();
    await page.keyboard.press('m');
    await page.locator('h1').focus();
    await host.button('Unmute').waitFor();

    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await page.getByLabel('Use shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.locator('h1').focus();
    await page.keyboard.press('v');
    await page.keyboard.press('?');
    await host.button('Start camera').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    // The way back is not a key.
    await host.button('More').click();
    await host.button('Keyboard shortcuts').click();
    await page.getByLabel('Use shortcuts').check();
    await page.keyboard.press('Escape');
    await page.locator('h1').focus();
    await page.keyboard.press('m');
    await host.button('Mute').waitFor();
    await closeAll([host]);
  });

  test('a muted participant who speaks sees a notice, and is heard while the space bar is pressed', async () => {
    const room = await server.createRoom();
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await guest.untilHeard();
    await host.page.keyboard.press('m');
    await host.button('Unmute').waitFor();
    await guest.untilSilent();
    await host.page.getByText('You’re muted, so nobody can hear you.').waitFor();
    await host.seen('desktop-light-unheard');
    // It is told on this device only.
    expect(await guest.hears(audible)).toBeLessThan(audible);

    await host.page.keyboard.down('Space');
    await guest.untilHeard();
    await host.button('Mute').waitFor();
    await host.page.keyboard.up('Space');
    await host.button('Unmute').waitFor();
    await guest.untilSilent();

    // On a button the space bar presses it.
    await host.button('More').focus();
    await host.page.keyboard.press('Space');
    await host.page.getByRole('heading', { name: 'More' }).waitFor();
    await host.page.keyboard.press('Escape');
    await host.button('Unmute').waitFor();

    // Switching to another window ends push to talk.
    await host.page.locator('h1').focus();
    await host.page.keyboard.down('Space');
    await host.button('Mute').waitFor();
    await host.page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await host.button('Unmute').waitFor();

    // Held to speak is not chosen: the next time begins muted.
    await host.page.reload();
    await host.button('Rejoin').waitFor();
    await host.page.getByRole('button', { name: 'Microphone', pressed: false }).waitFor();
    await host.page.getByText('Your microphone is off').waitFor();
    await closeAll([host]);
    await guest.close();
  });
});
