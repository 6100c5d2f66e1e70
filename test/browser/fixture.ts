import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { fakeDevices, launch, type Person } from './browser';
import { Server } from './server';

/** The server and the browser of the test file, or of the describe block, that called setUp. */
export let server: Server;
export let browser: Browser;

/**
 * Starts one server with the flags and one browser with the devices for a test file or a describe block. Each test begins with the
 * default settings of the project.
 */
export function setUp({ flags = [], media = fakeDevices }: { flags?: string[]; media?: string[] } = {}): void {
  beforeAll(async () => {
    server = await Server.start(...flags);
    browser = await launch(media);
  });

  // Before and not after each test, so that a test is right alone, when it is repeated, and after one that failed.
  beforeEach(() => server.resetSettings());

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    // What the page itself sends is no reason for an operator to look.
    if (expect.getState().testPath?.includes('/journeys/')) {
      expect(server.log.match(/^.*msg=refused.*$/gm) ?? [], 'refusals that an operator sees').toEqual([]);
    }
  });
}

/** Ends a test: checks that no page called another host or logged anything except the allowed messages, and closes the browsers of all people. */
export async function closeAll(people: Person[], ...allowed: RegExp[]): Promise<void> {
  for (const person of people) {
    person.assertNoComplaints(server.url, allowed);
    await person.close();
  }
}
