import { describe, expect, test, vi } from 'vitest';
import { selectedCandidates } from '../room/check/mediaRoute';
import { pathOf, resultsOf, serverCheck } from './serverCheck';

describe('the path of a connection', () => {
  const candidate = (fields: object): { id: string; type: string } => ({ id: 'mine', type: 'local-candidate', ...fields });
  const server = { id: 'theirs', type: 'remote-candidate', address: '203.0.113.7', port: 7882 };
  test.each([
    [candidate({ candidateType: 'host', protocol: 'udp' }), server, { name: 'udp', address: '203.0.113.7:7882' }],
    [candidate({ candidateType: 'prflx', protocol: 'tcp' }), server, { name: 'ice_tcp', address: '203.0.113.7:7882' }],
    [
      candidate({ candidateType: 'relay', protocol: 'udp', relayProtocol: 'tcp' }),
      server,
      { name: 'turn_tcp', address: '203.0.113.7:7882' },
    ],
    [
      candidate({ candidateType: 'relay', protocol: 'udp', relayProtocol: 'tls' }),
      server,
      { name: 'turn_tls', address: '203.0.113.7:7882' },
    ],
    [
      candidate({ candidateType: 'host', protocol: 'udp' }),
      { ...server, address: '2001:db8::7' },
      { name: 'udp', address: '[2001:db8::7]:7882' },
    ],
  ])('%o', (mine, theirs, path) => {
    const pair = { id: 'pair', type: 'candidate-pair', selected: true, localCandidateId: 'mine', remoteCandidateId: 'theirs' };
    const all = new Map([pair, mine, theirs].map((entry) => [entry.id, entry])) as unknown as RTCStatsReport;
    const selected = selectedCandidates(all);
    expect(pathOf(selected?.local, selected?.remote)).toEqual(path);
  });

  test('says what works and what does not, because a browser prefers UDP', () => {
    const works = { offered: true, works: true, address: 'a' };
    const fails = { offered: true, works: false, address: '' };
    expect(resultsOf({ name: 'udp', address: 'a' })).toEqual({ udp: works });
    expect(resultsOf({ name: 'ice_tcp', address: 'a' })).toEqual({ udp: fails, ice_tcp: works });
    const notOffered = { offered: false, works: false, address: '' };
    expect(resultsOf({ name: 'turn_tcp', address: 'a' })).toEqual({ udp: fails, ice_tcp: notOffered });
    expect(resultsOf(null)).toEqual({ udp: fails, ice_tcp: notOffered });
  });
});

test('a check continues after the server could not be reached, because its code works only once', async () => {
  const answers: [path: string, status: number, body?: object][] = [
    ['', 200, { key: 'k' }],
    ['/token', 200, { media_token: 't' }],
    ['/report', 503],
    ['/report', 204],
  ];
  const asked: string[] = [];
  vi.stubGlobal('fetch', (url: string, { body }: { body: string }) => {
    const [path, status, answer] = answers.shift() ?? ['nothing more', 500];
    asked.push(`${url} ${body}`);
    expect(url).toBe(`/api/join/checks${path}`);
    return Promise.resolve(new Response(answer ? JSON.stringify(answer) : null, { status }));
  });
  const media = { connectForMoment: () => Promise.resolve('none' as const), selectedCandidates };
  const check = serverCheck('c', media);
  expect(await check()).toEqual({ is: 'unreachable' });
  expect(await check()).toMatchObject({ is: 'done', paths: { udp: { works: false } } });
  expect(asked[0]).toBe('/api/join/checks {"code":"c"}');
  expect(asked[3]).toBe(asked[2]);
  vi.unstubAllGlobals();
});
