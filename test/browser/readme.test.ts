import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { artefacts, desktop, Person, phone } from './browser';
import { drawCamera, faces } from './faces';
import { browser, server, setUp } from './fixture';

setUp();

const images = resolve(import.meta.dirname, '../../docs/images');

/** The mean difference of two pictures, 0 to 255, seen from so far away that letters do not matter. */
async function difference(person: Person, before: Buffer, now: Buffer): Promise<number> {
  return person.page.evaluate(
    async ({ before, now }) => {
      const pixels = async (data: string): Promise<Uint8ClampedArray> => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = new OffscreenCanvas(64, 64);
        const context = canvas.getContext('2d');
        if (!context) throw new Error('no 2d context');
        context.drawImage(image, 0, 0, 64, 64);
        return context.getImageData(0, 0, 64, 64).data;
      };
      const [one, other] = await Promise.all([pixels(before), pixels(now)]);
      return one.reduce((sum, value, i) => sum + Math.abs(value - (other[i] ?? 0)), 0) / one.length;
    },
    { before: before.toString('base64'), now: now.toString('base64') },
  );
}

// The README shows these pictures. UPDATE_PICTURES=1 takes them anew.
test('the pictures in the README show the page as it is', async () => {
  const room = await server.createMeeting({});
  const people = [
    { name: 'Amina', face: faces.amina, look: { viewport: desktop } },
    { name: 'Béla', face: { ...faces.bela, upright: false }, look: { viewport: phone } },
    { name: 'Carlos', face: faces.carlos, look: { viewport: desktop } },
  ];
  const present: Person[] = [];
  for (const { name, face, look } of people) {
    const person = await Person.arrive(browser, look);
    await drawCamera(person, face);
    await person.join(present.length === 0 ? room.final_link : room.guest_link, present.length === 0 ? undefined : name);
    present.push(person);
  }
  // Every participant is visible, and no page shows a weak connection.
  for (const person of present) {
    await expect
      .poll(
        () =>
          person.page.evaluate(() => ({
            videos: [...document.querySelectorAll('video')].filter((video) => video.videoWidth > 200 && video.currentTime > 5).length,
            notices: document.querySelectorAll('.toast').length + (/Weak|Reconnecting/.test(document.body.innerText) ? 1 : 0),
          })),
        { timeout: 60_000 },
      )
      .toEqual({ videos: people.length, notices: 0 });
  }
  const [amina, bela] = present;
  if (!amina || !bela) throw new Error('nobody is there');
  mkdirSync(artefacts, { recursive: true });
  const shots = [
    { file: 'meeting-desktop.png', person: amina },
    { file: 'meeting-phone.png', person: bela },
  ];
  for (const { file, person } of shots) {
    await person.page.mouse.move(0, 0);
    const now = await person.page.screenshot({ path: join(artefacts, file) });
    const committed = join(images, file);
    if (process.env.UPDATE_PICTURES || !existsSync(committed)) {
      mkdirSync(images, { recursive: true });
      writeFileSync(committed, now);
      continue;
    }
    expect(
      await difference(person, readFileSync(committed), now),
      `docs/images/${file} is out of date: run the test with UPDATE_PICTURES=1`,
    ).toBeLessThan(12);
  }
  for (const person of present) await person.close();
});
