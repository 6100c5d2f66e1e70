import { defineConfig } from 'vitest/config';

// One file at a time: two cores carry no more.
export default defineConfig({
  test: {
    include: ['*.test.ts'],
    setupFiles: ['./failure.ts'],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
