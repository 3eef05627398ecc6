/** The tests that run real clients: `npx vitest run --config test/clients/vitest.config.ts`. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["./claude-code/install.ts", "./codex/install.ts", "./gemini/install.ts", "./opencode/install.ts"],
    testTimeout: 300_000,
    // Each test waits for a client of 350 MB; more than two at once only slow each other down.
    maxWorkers: 2,
    pool: "forks",
  },
});
