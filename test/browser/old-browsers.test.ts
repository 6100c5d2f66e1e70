import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

// Chrome 109 is the last for Windows 7 and 8, and Safari 15 the last for many phones.
test('a browser of 2022 shows a meeting and all that opens in it', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  for (const { page } of [amina, ben]) {
    await page.addInitScript(() => {
      const later: [object, string[]][] = [
        [Array.prototype, ['toSorted', 'toReversed', 'toSpliced', 'with', 'findLast', 'findLastIndex']],
        [Array, ['fromAsync']],
        [Object, ['groupBy']],
        [Map, ['groupBy']],
        [Promise, ['withResolvers', 'try']],
        [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']],
        [AbortSignal, ['any', 'timeout']],
        [URL, ['canParse', 'parse']],
        [globalThis, ['Iterator', 'documentPictureInPicture']],
      ];
      for (const [owner, names] of later) for (const name of names) Reflect.deleteProperty(owner, name);
    });
  }
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await amina.untilSeen();
  for (const { page } of [amina, ben]) expect(await page.locator('.tile').count()).toBe(2);
  await ben.button('Raise hand').click();
  await amina.button(/^People/).click();
  await amina.page.getByRole('list', { name: 'Raised hands' }).waitFor();
  await amina.openRoomTab();
  await amina.button('Breakout rooms').click();
  await amina.button('Assign evenly').click();
  await amina.page.keyboard.press('Escape');
  await amina.button('More').click();
  await amina.button('Check connection and devices').click();
  await amina.page.getByText(/^The server responds/).waitFor();
  await closeAll([amina, ben]);
});

test('a browser that cannot run the page shows what to do', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { viewport: phone });
  const { page } = person;
  const advice = page.getByText('update this browser');
  await person.open(room.guest_link);
  await person.button('Join').waitFor();
  expect(await advice.isVisible()).toBe(false);

  await page.route(/\/assets\/index-.*\.js/, (route) => route.fulfill({ contentType: 'text/javascript', body: 'class { #unknown syntax' }));
  await page.reload();
  await advice.waitFor();
  await person.seen('not-loaded');
  await closeAll([person], /SyntaxError/);
});
