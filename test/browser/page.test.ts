import { describe, expect, test } from 'vitest';
import { desktop, launch, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp({ flags: ['--demo'] });

const looks = [
  { name: 'phone-light', viewport: phone, dark: false },
  { name: 'desktop-dark', viewport: desktop, dark: true },
];

describe.each(looks)('$name', (look) => {
  test('every view passes axe and fits the screen', async () => {
    const room = await server.createRoom({ max_participants: 2 });
    const host = await Person.arrive(browser, look);
    const guest = await Person.arrive(browser, look);

    await host.open(room.final_link);
    await host.page.getByText('You’re the host').waitFor();
    await host.page.getByText('Your microphone works.').waitFor();
    await host.seen(`${look.name}-before`);

    await host.button('Join').click();
    await host.page.getByText('You’re the first one here').waitFor();
    await host.seen(`${look.name}-alone`);

    await guest.join(room.guest_link, 'Benedikta von Hohenstein-Langenfeld');
    await host.page.getByText('Benedikta').first().waitFor();
    await host.seen(`${look.name}-together`);

    await host.page
      .getByRole('button', { name: /People/ })
      .first()
      .or(host.button('More'))
      .first()
      .click();
    await host.seen(`${look.name}-sheet`);
    await host.page.keyboard.press('Escape');

    await host.leave();
    await host.seen(`${look.name}-left`);

    await closeAll([host]);
    await guest.close();
  });

  test('every error is a page of its own', async () => {
    const person = await Person.arrive(browser, look);
    await person.open(`${server.url}/r/0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10`);
    await person.page.getByRole('heading', { name: 'This room doesn’t exist' }).waitFor();
    await person.seen(`${look.name}-unknown`);
    await person.open(`${server.url}/room`);
    await person.page.getByRole('heading', { name: 'This isn’t a room link' }).waitFor();
    await person.seen(`${look.name}-not-a-link`);
    await person.open(server.url);
    await person.page.getByText('The service works.').waitFor();
    expect(await person.page.getByRole('link', { name: /documentation/i }).getAttribute('href')).toMatch(/\/docs/);
    expect(await person.page.getByRole('link', { name: /console/i }).getAttribute('href')).toMatch(/\/console/);
    await person.seen(`${look.name}-landing`);
    await person.close();
  });
});

test('a visitor who is joining can still mute and switch the camera off, and joins that way', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser);
  const { page } = person;
  let admitJoin = (): void => undefined;
  const asked = new Promise<void>((held) =>
    page.route('**/seats', async (route) => {
      const go = new Promise<void>((resolve) => (admitJoin = resolve));
      held();
      await go;
      await route.continue();
    }),
  );
  await person.open(room.guest_link);
  await page.getByLabel('Your name').fill('Ben');
  await page.getByText('Your microphone works.').waitFor();
  await person.button('Join').click();
  await asked;
  await person.button('Joining…').waitFor();
  await person.button('Microphone').click();
  await person.button('Camera').click();
  await page.getByText('Your camera is off').waitFor();
  admitJoin();
  await person.button('Unmute').first().waitFor();
  await person.button('Start camera').first().waitFor();
  await person.close();
});

test('two people in a video room see each other', async () => {
  const links = server.demo('video');
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone });
  await host.join(links.host);
  await guest.join(links.guest, 'Ben');
  for (const person of [host, guest]) {
    await person.untilHeard();
    if (await person.button('Start camera').first().isVisible()) await person.button('Start camera').first().click();
  }
  for (const person of [host, guest]) {
    // Another person's picture moves: frames are decoded and shown.
    await expect
      .poll(() =>
        person.page.evaluate(() => [...document.querySelectorAll('video')].filter((v) => v.videoWidth > 0 && v.currentTime > 0).length),
      )
      .toBeGreaterThanOrEqual(2);
    await person.seen(person === host ? 'video-desktop' : 'video-phone');
    person.assertNoComplaints(server.url);
  }
  await host.close();
  await guest.close();
});

test('the guest link can be copied, and holds no token', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  await host.context.grantPermissions(['clipboard-read', 'clipboard-write', 'microphone']);
  await host.join(room.final_link);
  await host.button('Copy guest link').first().click();
  await host.page.getByText('Copied').first().waitFor();
  expect(await host.page.evaluate(() => navigator.clipboard.readText())).toBe(room.guest_link);
  await host.close();
});

describe('without a microphone', () => {
  test.each([
    {
      what: 'blocked',
      media: ['--use-fake-device-for-media-stream', '--deny-permission-prompts'],
      words: 'Your browser blocks the microphone.',
    },
    { what: 'missing', media: ['--use-fake-ui-for-media-stream'], words: 'No microphone was found.' },
  ])('$what: says so, and one can join and listen', async ({ what, media, words }) => {
    const silent = await launch(media);
    try {
      const room = await server.createRoom();
      const host = await Person.arrive(browser);
      const person = await Person.arrive(silent, { viewport: phone, microphone: false });
      await person.open(room.guest_link);
      await person.page.getByLabel('Your name').fill('Ben');
      const allow = person.button('Allow microphone');
      const said = person.page.getByText(words, { exact: false });
      await allow.or(said).first().waitFor();
      if (await allow.isVisible()) await allow.click();
      await said.waitFor();
      await person.seen(`microphone-${what}`);
      await person.button('Join').click();
      await person.button('Leave').first().waitFor();
      await host.join(room.final_link);
      await person.untilHeard();
      await host.close();
    } finally {
      await silent.close();
    }
  });
});
