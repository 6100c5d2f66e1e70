import { expect, test } from 'vitest';
import type { Role } from '../../api/client';
import { isLastHost } from './isLastHost';

const entry = (role: Role, { you = false, away = false } = {}) => ({ person: { you, role }, disconnectedAt: away ? 1 : null });
const you = entry('host', { you: true });
const room = { number: 1, name: 'Room 1' };

test.each([
  ['a host with guests', 'host', [you, entry('guest'), entry('guest')], [], true],
  ['a host with a co-host', 'host', [you, entry('cohost')], [], true],
  ['a host who is alone', 'host', [you], [], false],
  ['a host who is alone while breakout rooms are open', 'host', [you], [room], true],
  ['one of two hosts', 'host', [you, entry('host'), entry('guest')], [], false],
  ['a host while the other has lost the connection', 'host', [you, entry('host', { away: true }), entry('guest')], [], true],
  ['a host whose guest has lost the connection', 'host', [you, entry('guest', { away: true })], [], false],
  ['a co-host', 'cohost', [entry('cohost', { you: true }), entry('guest')], [], false],
  ['a guest', 'guest', [entry('guest', { you: true }), entry('guest')], [room], false],
] as const)('%s', (_, role, people, breakouts, last) => expect(isLastHost(role, people, { breakouts })).toBe(last));
