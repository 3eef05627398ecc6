/**
 * The running server gives the same answers. Plays part of the scenarios; `FREEZE_DRIVER=mcp npx vitest run test/freeze/claude-code.test.ts` plays
 * all.
 */
import "./as-built.ts";
import { expect, it } from "vitest";
import { chosenDriver } from "./driver.ts";
import { asKept, isUpdate, readGolden } from "./golden.ts";
import { play } from "./scenario.ts";
import { scenariosOf } from "./scenarios/all.ts";

const PLAYED = ["recorded-task-in-hand", "skills-fit", "sub-agent-with-task", "messages", "switched-off", "bad-input"];

it.skipIf(isUpdate).each(PLAYED)(
  "%s, over a running server",
  async (name) => {
    const scenario = scenariosOf("claude-code").find((one) => one.name === name)!;
    const played = asKept(await play("claude-code", scenario, chosenDriver("mcp")));
    expect(played).toEqual(readGolden("claude-code", name));
  },
  120_000,
);
