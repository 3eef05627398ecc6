import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import "./scripts/make-postgres.mjs";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // These need the real clients: npm run test:clients.
    exclude: ["**/node_modules/**", "test/clients/**"],
    testTimeout: 60_000,
    // By default Vitest leaves one core free, and on two cores runs one file at a time. Many tests wait for processes that they start.
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    // Records of trusted projects: none of a test's may reach the home of whoever runs it.
    env: { XDG_STATE_HOME: join(tmpdir(), "haversack-test-state") },
    pool: "forks",
    // One PostgreSQL server for all files that need one.
    globalSetup: ["test/postgres/global-setup.ts"],
  },
});
