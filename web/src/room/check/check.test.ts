import { describe, expect, test } from 'vitest';
import { protocolOf } from './mediaRoute';
import { serverLatency } from './serverLatency';

const pair = { type: 'candidate-pair', id: 'pair', localCandidateId: 'mine' };
const other = { type: 'candidate-pair', id: 'other', localCandidateId: 'unused' };
const mine = { type: 'local-candidate', id: 'mine', protocol: 'tcp' };
const unused = { type: 'local-candidate', id: 'unused', protocol: 'udp' };

/** A report with its entries in this order, which differs between browsers. */
const report = (...entries: { id: string; type: string }[]): RTCStatsReport =>
  new Map(entries.map((entry) => [entry.id, entry])) as unknown as RTCStatsReport;

describe('the protocol of a connection', () => {
  test.each([
    ['as Chromium and Safari tell it', [{ type: 'transport', id: 't', selectedCandidatePairId: 'pair' }, other, pair, unused, mine], 'tcp'],
    ['whatever comes first', [mine, unused, pair, other, { type: 'transport', id: 't', selectedCandidatePairId: 'pair' }], 'tcp'],
    ['as Firefox tells it', [other, { ...pair, selected: true }, unused, mine], 'tcp'],
    [
      'through a relay over TLS',
      [
        { ...pair, selected: true },
        { ...mine, protocol: 'udp', relayProtocol: 'tls' },
      ],
      'tcp',
    ],
    [
      'through a relay over UDP',
      [
        { ...pair, selected: true },
        { ...mine, protocol: 'udp', relayProtocol: 'udp' },
      ],
      'udp',
    ],
    ['before there is one', [{ type: 'transport', id: 't' }, other, pair, unused, mine], null],
    ['of nothing', [], null],
  ])('%s', (_, entries, protocol) => expect(protocolOf(report(...entries))).toBe(protocol));
});

test('the latency is that of the best of three responses', async () => {
  const times = [0, 300, 300, 340, 340, 600];
  expect(
    await serverLatency(
      () => Promise.resolve(true),
      () => times.shift() ?? 0,
    ),
  ).toBe(40);
});

test('one missing response counts as unreachable', async () => {
  const responses = [true, false, true];
  expect(await serverLatency(() => Promise.resolve(responses.shift() ?? true))).toBeNull();
});
