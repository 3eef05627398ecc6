import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // These need the real clients: npm run test:clients.
    exclude: ["**/node_modules/**", "test/clients/**"],
    testTimeout: 60_000,
    // Records of trusted projects: none of a test's may reach the home of whoever runs it.
    env: { XDG_STATE_HOME: join(tmpdir(), "haversack-test-state") },
    pool: "forks",
    // One PostgreSQL server for all files that need one.
    globalSetup: ["test/postgres/global-setup.ts"],
  },
});
