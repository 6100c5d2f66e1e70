import { describe, expect, test } from 'vitest';
import { assignEvenly, localLocations, serverLocations } from './personLocations';

describe('who is where', () => {
  const guest = 'guest' as const;
  const [ana, ben, chen] = ['Ana', 'Ben', 'Chen'].map((name) => ({ identity: name.toLowerCase(), name, role: guest })) as [
    Named,
    Named,
    Named,
  ];
  type Named = { identity: string; name: string; role: typeof guest };

  test('is known by itself only of those who are seen', () => {
    expect(localLocations([chen, ana], 2)).toEqual([
      { ...ana, breakout: 2 },
      { ...chen, breakout: 2 },
    ]);
  });

  test('is told by the server of everybody else', () => {
    const reported = [chen, ben, ana].map((person, breakout) => ({ ...person, breakout }));
    expect(serverLocations(reported, 'ana')).toEqual([
      { ...ben, breakout: 1 },
      { ...chen, breakout: 0 },
    ]);
  });

  test('people are dealt out in turn', () => {
    expect([...assignEvenly([ana, ben, chen], 2)]).toEqual([
      ['ana', 0],
      ['ben', 1],
      ['chen', 0],
    ]);
  });
});
