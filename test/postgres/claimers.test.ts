/** A small slice of `npm run team`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimRound, faultsOf } from "./claim-rounds.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const TASKS = 40;

describe.skipIf(whyNoServer())("claimers in four processes", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.stop());

  it("take each task once, while the server crashes and connections break", { timeout: 180_000 }, async () => {
    const report = await claimRound({ server, claimers: 4, tasks: TASKS, crashes: 2, cutEveryMs: 500 });
    expect(faultsOf(report, TASKS)).toEqual([]);
  });
});
