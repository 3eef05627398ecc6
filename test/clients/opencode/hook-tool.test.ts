/** A model that calls the tool for events itself, though nobody has listed it. */
import { expect, it } from "vitest";
import { forgedEvent } from "../forged-event.ts";
import { steps, toolCall } from "../script.ts";
import { haversack, haversackRepo } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";

it("is refused, and nothing is recorded", async () => {
  const repo = haversackRepo();
  const call = toolCall("haversack_hook", forgedEvent(repo.root));
  const server = await testServer(steps([{ tools: [call] }, { text: "end" }]));
  expect((await runOpencode({ repo, server, prompt: "Go." })).exitCode).toBe(0);
  const [result] = server.of("main")[1]?.toolResults ?? [];
  expect(result?.text).toMatch(/unavailable|invalid|no tool/i);
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});
