import { expect, test, vi } from 'vitest';
import { fakeDevices, launch, Person } from '../browser';
import { Server } from '../server';

test('two people meet over HTTPS, on one port of the server itself', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const server = await Server.startSecure();
  const browser = await launch([...fakeDevices, '--ignore-certificate-errors']);
  try {
    const room = await server.createRoom();
    expect(room.final_link).toMatch(/^https:\/\/localhost:/);
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    const protocol = await host.page.evaluate(
      () => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).nextHopProtocol,
    );
    expect(protocol).toBe('h2');
    for (const person of [host, guest]) {
      person.assertNoComplaints(server.url, []);
      await person.close();
    }
  } finally {
    await browser.close();
    await server.close();
    vi.unstubAllEnvs();
  }
});
