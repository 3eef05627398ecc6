/** A model that calls the tool for events itself, though nobody has listed it. */
import { expect, it } from "vitest";
import { forgedEvent } from "../forged-event.ts";
import { namespaceCall, textCall } from "../responses-api.ts";
import { steps } from "../script.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo } from "./haversack-repo.ts";
import { CODE_MODEL } from "./run-codex.ts";

it("is refused, and nothing is recorded", async () => {
  const repo = haversackRepo("user");
  const event = forgedEvent(repo.root);
  const script = steps([{ tools: [namespaceCall("mcp__haversack", "hook", event)] }]);
  const { run, server } = await codexOnce("Go.", script, { repo });
  expect(run.exitCode).toBe(0);
  expect(server.requests[1]?.toolResults[0]?.text).toMatch(/unsupported call|no tool/i);
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});

it("is refused when it is called from JavaScript", async () => {
  const repo = haversackRepo("user");
  const code = `text(await tools.mcp__haversack__hook(${JSON.stringify(forgedEvent(repo.root))}));`;
  const { run, server } = await codexOnce("Go.", steps([{ tools: [textCall("exec", code)] }]), {
    repo,
    model: CODE_MODEL,
  });
  expect(run.exitCode).toBe(0);
  expect(server.requests[1]?.toolResults[0]?.text).toMatch(/not a function|undefined|no tool/i);
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});
