import { describe, expect, test } from 'vitest';
import { assignEvenly, localLocations, serverLocations } from './personLocations';

describe('the locations of people', () => {
  const guest = 'guest' as const;
  const [ana, ben, chen] = ['Ana', 'Ben', 'Chen'].map((name) => ({ identity: name.toLowerCase(), name, role: guest })) as [
    Named,
    Named,
    Named,
  ];
  type Named = { identity: string; name: string; role: typeof guest };

  test('are known without the server only for the people in this room', () => {
    expect(localLocations([chen, ana], 2)).toEqual([
      { ...ana, breakout: 2 },
      { ...chen, breakout: 2 },
    ]);
  });

  test('are reported by the server for everybody else', () => {
    const reported = [chen, ben, ana].map((person, breakout) => ({ ...person, breakout }));
    expect(serverLocations(reported, 'ana')).toEqual([
      { ...ben, breakout: 1 },
      { ...chen, breakout: 0 },
    ]);
  });

  test('people are assigned to the rooms in turn', () => {
    expect([...assignEvenly([ana, ben, chen], 2)]).toEqual([
      ['ana', 0],
      ['ben', 1],
      ['chen', 0],
    ]);
  });
});
