import { expect, test, vi } from 'vitest';
import { fakeDevices, launch, Person } from '../browser';
import { Server } from '../server';

test('two people meet over HTTPS, on one port of the server itself, although the network of one blocks UDP', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const server = await Server.startSecure();
  const browser = await launch([...fakeDevices, '--ignore-certificate-errors']);
  try {
    const room = await server.createRoom();
    expect(room.final_link).toMatch(/^https:\/\/localhost:/);
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser);
    await guest.useOnly('turns:');
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    await guest.button('More').click();
    await guest.button('Check connection and devices').click();
    await guest.page.getByText('Your network blocks UDP, so you’re connected over TCP.').waitFor();
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
