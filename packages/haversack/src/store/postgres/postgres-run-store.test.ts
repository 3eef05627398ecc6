import { afterEach, describe, expect, it } from "vitest";
import { describeRunStore, newRun } from "../runs.suite.ts";
import { PostgresRunStore } from "./postgres-run-store.ts";
import { type Scratch, scratch, server } from "./scratch-postgres.suite.ts";

describe.skipIf(!server)("runs in PostgreSQL", () => {
  const places: Scratch[] = [];
  afterEach(async () => {
    for (const place of places.splice(0)) await place.close();
  });
  const open = (options = {}) => {
    const place = scratch();
    places.push(place);
    return new PostgresRunStore(place.open(options).server);
  };
  describeRunStore(open);

  it("tells the age of a sign of life by the reader's clock, however wrong the clock of the run's machine is", async () => {
    const runs = open({ clock: "server" });
    const wrong = new Date(Date.now() - 60 * 60_000);
    const { id } = await runs.createRun(newRun("behind", { startedAt: wrong }));
    await runs.updateRun(id, { seenAt: wrong });
    const ageMs = Date.now() - (await runs.getRun(id)).seenAt.getTime();
    expect(ageMs).toBeGreaterThanOrEqual(-1000);
    expect(ageMs).toBeLessThan(60_000);
  });
});
