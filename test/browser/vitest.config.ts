import { defineConfig } from 'vitest/config';

// One file at a time and one test at a time: two cores carry no more.
export default defineConfig({
  test: {
    setupFiles: ['./failure.ts'],
    fileParallelism: false,
    maxConcurrency: 1,
    // A failed test is repeated, and the end of `make test` lists it.
    retry: 2,
    reporters: ['default', ['json', { outputFile: '../artefacts/results/browser.json' }]],
    // No test fails because the machine is slow. `make bench` measures what must be quick.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      // What people do in a meeting: `make test` runs these.
      { extends: true, test: { name: 'journeys', include: ['journeys/*.test.ts'] } },
      // Every view in every state: `make test-all` runs these, too.
      { extends: true, test: { name: 'states', include: ['*.test.ts'] } },
    ],
  },
});
