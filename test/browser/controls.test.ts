import { expect, test } from 'vitest';
import { launch, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

test.each([320, 390, 600, 700, 1000, 1280])('at %d px all controls are on the screen, apart and large enough', async (width) => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { viewport: { width, height: 640 } });
  const { page } = person;
  await person.join(room.final_link);
  const boxes = async (): Promise<{ left: number; right: number; width: number; height: number }[]> =>
    page.locator('.controls button').evaluateAll((all) =>
      all.map((one) => {
        const { left, right, width, height } = one.getBoundingClientRect();
        return { left, right, width, height };
      }),
    );
  const fits = async (): Promise<void> => {
    const all = await boxes();
    expect(all.length).toBeGreaterThanOrEqual(6);
    const edge = await page.locator('.room-middle').evaluate((it) => it.getBoundingClientRect().right);
    for (const [i, { left, right, width, height }] of all.entries()) {
      expect([left >= 0, right <= edge, width >= 44, height >= 44], JSON.stringify(all)).toEqual([true, true, true, true]);
      if (i > 0) expect(left, JSON.stringify(all)).toBeGreaterThanOrEqual((all[i - 1]?.right ?? 0) - 1);
    }
  };
  await fits();
  if (width < 1000) return closeAll([person]);
  if (width === 1280) {
    // Leave is apart from the others.
    const [more, leave] = (await boxes()).slice(-2);
    expect((leave?.left ?? 0) - (more?.right ?? 0)).toBeGreaterThanOrEqual(48);
  }
  await page.keyboard.press('p');
  await page.getByRole('tab', { name: 'People', selected: true }).waitFor();
  await fits();
  await person.seen(`controls-${width}`);
  await closeAll([person]);
});

test('microphone and camera have menus, with the names of the devices', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser);
  const { page } = person;
  await person.join(room.final_link);
  const control = person.button('Audio settings');
  await control.click();
  const menu = page.getByRole('dialog', { name: 'Audio settings' });
  await menu.getByText('Your microphone works.').waitFor();
  const mics = menu.getByRole('group', { name: 'Microphone' }).getByRole('radio');
  expect(await mics.first().isChecked()).toBe(true);
  await person.seen('controls-audio');
  await menu.getByRole('radio', { name: 'Fake Audio Input 2' }).first().check();
  await expect.poll(() => page.evaluate(() => localStorage.getItem('parley.device.mic'))).not.toBeNull();
  // Escape returns to the control, and a press elsewhere closes the menu.
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  expect(await control.evaluate((it) => it === document.activeElement)).toBe(true);
  await person.button('Video settings').click();
  await page.getByRole('dialog', { name: 'Video settings' }).getByRole('radio').first().waitFor();
  await person.seen('controls-video');
  await page.locator('h1').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // Back on a tablet closes the menu, and does not leave.
  await person.button('Video settings').click();
  await page.getByRole('dialog', { name: 'Video settings' }).waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await person.button('Leave').first().waitFor();
  await closeAll([person]);
});

// A fake camera has no direction, so the test reports one.
test('a phone changes to its other camera', async () => {
  const twoCameras = await launch(['--use-fake-device-for-media-stream=device-count=2,fps=10', '--use-fake-ui-for-media-stream']);
  const room = await server.createMeeting({});
  const person = await Person.arrive(twoCameras, { viewport: phone });
  const { page } = person;
  await page.addInitScript(() => {
    let facing: unknown = 'user';
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = (wanted) => {
      if (typeof wanted?.video === 'object') facing = wanted.video.facingMode;
      return ask(wanted);
    };
    const settings = MediaStreamTrack.prototype.getSettings;
    MediaStreamTrack.prototype.getSettings = function () {
      return { ...settings.call(this), facingMode: facing as string };
    };
  });
  await person.join(room.final_link);
  const mirrored = page.locator('video.mirrored[data-own]');
  await mirrored.waitFor();
  await person.button('More').click();
  await person.button('Switch camera').click();
  await page.keyboard.press('Escape');
  await mirrored.waitFor({ state: 'detached' });
  await page.locator('video[data-own]').waitFor();
  await person.button('More').click();
  await person.button('Switch camera').click();
  await mirrored.waitFor({ state: 'attached' });
  await closeAll([person]);
  await twoCameras.close();
});

test('a swipe over the stage changes the view', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await guest.page.locator('.tile').nth(1).waitFor();
  const session = await guest.context.newCDPSession(guest.page);
  const swipe = async (fromX: number, toX: number, y: number): Promise<void> => {
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: fromX, y }] });
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: toX, y }] });
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  };
  const large = guest.page.locator('.tile[data-large]');
  await swipe(300, 100, 300);
  await large.waitFor();
  await swipe(100, 300, 300);
  await large.waitFor({ state: 'detached' });
  await closeAll([host, guest]);
});

test('the organizer’s message can be read again in the room, and addresses in it are links', async () => {
  const room = await server.createMeeting({ minutes: 30 });
  const person = await Person.arrive(browser, { viewport: phone, dark: true });
  const { page } = person;
  await page.route('**/preview', async (route) => {
    const answer = await route.fetch();
    const preview = (await answer.json()) as object;
    await route.fulfill({ response: answer, json: { ...preview, welcome_message: 'Read https://example.org/agenda first.' } });
  });
  await person.join(room.guest_link, 'Ben');
  await person.openRoomTab();
  const panel = page.getByRole('tabpanel', { name: 'Room' });
  expect(await panel.getByRole('link').getAttribute('href')).toBe('https://example.org/agenda');
  await panel.getByText(/^Ends at .* left$/).waitFor();
  expect(await panel.getByLabel('Guest link').inputValue()).toBe(room.guest_link);
  expect(await panel.getByText('Guest permissions').count()).toBe(0);
  await person.seen('phone-dark-room-tab');
  await closeAll([person]);
});
