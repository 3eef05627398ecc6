import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // These need the real clients: npm run test:clients.
    exclude: ["**/node_modules/**", "test/clients/**"],
    testTimeout: 60_000,
    pool: "forks",
  },
});
