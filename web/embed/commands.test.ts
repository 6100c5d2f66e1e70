import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CommandMessage } from '../src/embed/protocol';
import { Commands, replyTimeoutMs } from './commands';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function frame(): { commands: Commands; sent: CommandMessage[] } {
  const sent: CommandMessage[] = [];
  return { commands: new Commands((message) => sent.push(message)), sent };
}

test('a command is done when the frame replies to its number', async () => {
  const { commands, sent } = frame();
  const [mute, leave] = [commands.send('muteMicrophone'), commands.send('leave')];
  expect(sent).toEqual([
    { source: 'parley-host', id: 1, command: 'muteMicrophone' },
    { source: 'parley-host', id: 2, command: 'leave' },
  ]);
  commands.settle({ type: 'reply', id: 2, ok: false, error: 'The visitor is not in the room.' });
  commands.settle({ type: 'reply', id: 3, ok: true });
  await expect(leave).rejects.toThrow('The visitor is not in the room.');
  commands.settle({ type: 'reply', id: 1, ok: true });
  await expect(mute).resolves.toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test('a command fails without a reply, and when the frame is gone', async () => {
  const { commands } = frame();
  const late = commands.send('unmuteCamera');
  const expectation = expect(late).rejects.toThrow('The room did not reply within 10 seconds.');
  await vi.advanceTimersByTimeAsync(replyTimeoutMs);
  await expectation;
  // A reply that comes later has no effect.
  commands.settle({ type: 'reply', id: 1, ok: true });

  const canceled = commands.send('leave');
  commands.cancel();
  await expect(canceled).rejects.toThrow('does not show this room any more');
  expect(vi.getTimerCount()).toBe(0);
});
