import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { fakeDevices, launch, type Person } from './browser';
import { Server } from './server';

/** Those of the file, or of the part of it, whose setting they are. */
export let server: Server;
export let browser: Browser;

/** Gives the tests of a file, or of a part of it, one server with these flags and one browser with these devices. */
export function setting({ flags = [], media = fakeDevices }: { flags?: string[]; media?: string[] } = {}): void {
  beforeAll(async () => {
    server = await Server.start(...flags);
    browser = await launch(media);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
}

/** The end of a test: nobody's page asked another host or complained of anything but this, and all go. */
export async function partings(people: Person[], ...allowed: RegExp[]): Promise<void> {
  for (const person of people) {
    person.wellBehaved(server.url, allowed);
    await person.close();
  }
}
