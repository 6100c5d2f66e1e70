import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

/** A laptop of the most frequent size. */
const laptop = { width: 1366, height: 768 };

/** Returns whether all of an element is in the window and in each box around it that scrolls. */
function isWhole(element: Locator): Promise<boolean> {
  return element.evaluate((it) => {
    const { left, right, top, bottom } = it.getBoundingClientRect();
    const holds = (box: { left: number; right: number; top: number; bottom: number }): boolean =>
      left >= box.left - 1 && right <= box.right + 1 && top >= box.top - 1 && bottom <= box.bottom + 1;
    if (!holds({ left: 0, top: 0, right: innerWidth, bottom: innerHeight })) return false;
    for (let around = it.parentElement; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowY !== 'visible' && !holds(around.getBoundingClientRect())) return false;
    }
    return true;
  });
}

test.each([
  { width: 844, height: 390 },
  { width: 1100, height: 460 },
])('at $width × $height the label of each control is whole and covers no other control', async (viewport) => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { viewport });
  const { page } = person;
  await person.join(room.final_link);
  const controls = page.locator('.controls > .control:visible');
  expect(await controls.count()).toBeGreaterThanOrEqual(6);
  for (const control of await controls.all()) {
    await control.hover();
    const label = control.locator('.control-label');
    await expect.poll(() => label.evaluate((it) => getComputedStyle(it).opacity)).toBe('1');
    const text = await label.innerText();
    await expect.poll(() => isWhole(label), { message: text }).toBe(true);
    // The words fit the label, on one line of readable text.
    const { height, covered } = await label.evaluate((it) => {
      const own = it.getBoundingClientRect();
      const overlaps = (other: DOMRect): boolean =>
        other.left < own.right && other.right > own.left && other.top < own.bottom && other.bottom > own.top;
      const others = [...document.querySelectorAll('.controls > .control')].filter((one) => !one.contains(it));
      return { height: own.height, covered: others.filter((one) => overlaps(one.getBoundingClientRect())).length };
    });
    expect([text, height >= 20, covered]).toEqual([text, true, 0]);
  }
  await person.seen(`small-window-${viewport.width}`);
  await closeAll([person]);
});

test('on a laptop a host ends the room, or the breakout rooms, without scrolling', async () => {
  const room = await server.createMeeting({ breakouts: 6 });
  const host = await Person.arrive(browser, { viewport: laptop });
  const guests = [];
  await host.join(room.final_link);
  for (const name of ['Ben', 'Chen', 'Dora']) {
    const guest = await Person.arrive(browser, { smallCamera: true });
    await guest.join(room.guest_link, name);
    guests.push(guest);
  }
  await host.openRoomTab();
  await expect.poll(() => isWhole(host.button('End for all…'))).toBe(true);
  await host.seen('laptop-room');
  await host.button('Breakout rooms').click();
  await host.button('Assign evenly').click();
  await host.button(/^Open \d rooms$/).click();
  await host.button('Close all breakout rooms').waitFor();
  await host.page.getByLabel('Add a room').waitFor();
  await expect.poll(() => isWhole(host.button('Close all breakout rooms'))).toBe(true);
  await host.seen('laptop-breakout-rooms');
  await closeAll([host, ...guests]);
});

test('on a phone the zoom buttons cover a shared screen only after a tap on it', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone, touch: true });
  const { page } = ben;
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await amina.button('Share screen').click();
  const screen = page.locator('.tile.share[data-large]');
  await screen.locator('video').waitFor();
  const buttons = screen.locator('.zoom');
  const opacity = (): Promise<string> => buttons.evaluate((it) => getComputedStyle(it).opacity);
  await expect.poll(opacity).toBe('0');
  expect(await buttons.evaluate((it) => getComputedStyle(it).pointerEvents)).toBe('none');
  await ben.seen('phone-share-uncovered');
  await screen.tap();
  await expect.poll(opacity).toBe('1');
  await ben.button('Zoom in').tap();
  await expect.poll(() => screen.getAttribute('data-zoomed')).toBe('true');
  await closeAll([amina, ben]);
});

test('a long name takes two lines in the list of people, and all of it is with the options', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { viewport: phone });
  const guest = await Person.arrive(browser, { smallCamera: true });
  const name = 'Benedikta Maria Magdalena von und zu Hohenstein-Langenfeld-Witt';
  await host.join(room.final_link);
  await guest.join(room.guest_link, name);
  await host.button(/^More/).click();
  await host.button('People (2)').click();
  const shown = host.page.locator('.roster-name', { hasText: 'Benedikta' });
  await shown.waitFor();
  const lines = (): Promise<{ shown: number; all: number }> =>
    shown.evaluate((it) => {
      const line = Number.parseFloat(getComputedStyle(it).lineHeight);
      return { shown: Math.round(it.clientHeight / line), all: Math.round(it.scrollHeight / line) };
    });
  await expect.poll(async () => (await lines()).shown).toBeLessThanOrEqual(2);
  const collapsed = await lines();
  await host.seen('phone-long-name');
  await host.button(/^Manage Benedikta/).click();
  await expect.poll(lines).toEqual({ shown: collapsed.all, all: collapsed.all });
  await closeAll([host, guest]);
});

test('a dialog that is longer than the window fades out at its edge until its end is shown', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { viewport: { width: 844, height: 390 } });
  await host.join(room.final_link);
  await host.button(/^More/).click();
  const sheet = host.page.getByRole('dialog');
  await sheet.waitFor();
  const edge = (): Promise<{ hidden: number; fades: boolean }> =>
    sheet.evaluate((it) => {
      const after = getComputedStyle(it.querySelector('.sheet-body') as Element, '::after');
      const fades = after.position === 'sticky' && after.display !== 'none' && after.backgroundImage.includes('gradient');
      return { hidden: it.scrollHeight - it.clientHeight - it.scrollTop, fades };
    });
  const before = await edge();
  expect(before.hidden, 'the dialog is longer than the window').toBeGreaterThan(20);
  expect(before.fades).toBe(true);
  await host.seen('small-window-dialog');
  await sheet.evaluate((it) => it.scrollTo(0, it.scrollHeight));
  const last = sheet.locator('button:visible').last();
  await expect.poll(() => isWhole(last), { message: await last.innerText() }).toBe(true);
  await closeAll([host]);
});
