import { afterAll, describe } from "vitest";
import { agentStoreSuite } from "../agents.suite.ts";
import { workStoreSuite } from "../work-store.suite.ts";
import type { OpenedWorkStore } from "../work-under-test.suite.ts";
import { scratch, server } from "./scratch-postgres.suite.ts";

describe.skipIf(!server)("PostgreSQL", () => {
  const place = server && scratch();
  afterAll(() => place?.close());

  async function openScratch(): Promise<OpenedWorkStore> {
    if (!place) throw new Error("there is no server");
    await place.empty();
    return {
      store: place.open().store,
      reopen: async () => place.open().store,
      close: async () => undefined,
    };
  }

  workStoreSuite("PostgreSQL", openScratch);
  agentStoreSuite("PostgreSQL", openScratch);
});
