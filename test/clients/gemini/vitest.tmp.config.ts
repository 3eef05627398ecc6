import { defineConfig } from "vitest/config";
export default defineConfig({
  test: {
    root: "/work/main/test/clients",
    include: ["gemini/**/*.test.ts", "opencode/**/*.test.ts"],
    testTimeout: 120_000,
    maxWorkers: 1,
    pool: "forks",
  },
});
