/** One test for each scenario of a client. */
import { describe, expect, it } from "vitest";
import { asKept, isUpdate, keepGolden, readGolden } from "./golden.ts";
import type { Client } from "./recorded.ts";
import { play } from "./scenario.ts";
import { scenariosOf } from "./scenarios/all.ts";

export function runScenarios(client: Client): void {
  describe(`${client} is answered as before`, () => {
    it.each(scenariosOf(client).map((scenario) => [scenario.name, scenario] as const))(
      "%s",
      async (name, scenario) => {
        const played = asKept(await play(client, scenario));
        if (isUpdate) keepGolden(client, name, played);
        else expect(played).toEqual(readGolden(client, name));
      },
      120_000,
    );
  });
}
