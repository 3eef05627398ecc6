/** A small slice of `npm run forward`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forwardRound } from "./forward-round.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

describe.skipIf(whyNoServer())("events written offline", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.stop());

  it("arrive once and in order, although the forwarder is killed", { timeout: 180_000 }, async () => {
    const report = await forwardRound({ url: server.socketUrl, events: 400, kills: 4 });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
  });
});
