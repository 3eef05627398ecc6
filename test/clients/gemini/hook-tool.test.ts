/** A model that calls the tool for events itself, though nobody has listed it. */
import { expect, it } from "vitest";
import { forgedEvent } from "../forged-event.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, sqlRepo, wire } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";

it("is refused, and nothing is recorded", async () => {
  const repo = sqlRepo();
  wire(repo, "project");
  const call = toolCall("mcp_haversack_hook", forgedEvent(repo.root));
  const server = await testServer(steps([{ tools: [call] }, { text: "end" }]));
  expect((await runGemini({ repo, server, prompt: "Go." })).exitCode).toBe(0);
  const [result] = server.of("main")[1]?.toolResults ?? [];
  expect(result?.text).toMatch(/not found|no tool/i);
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});
