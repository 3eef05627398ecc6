/** The board in a real browser: `npm run test:board`. It needs Chromium, at /usr/bin/chromium or where CHROMIUM says. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { root: import.meta.dirname, include: ["*.browser.ts"], testTimeout: 120_000, maxWorkers: 1, pool: "forks" },
});
