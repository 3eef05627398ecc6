import { expect, it } from "vitest";
import { seenIn } from "../../artifacts/receipts.ts";
import { readReferenceBlock } from "../../artifacts/reference-block.ts";
import { expectDocuments, recordSeen } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { commandsIn } from "../../work/capture/shell-words.ts";
import { dispatchRole } from "./dispatch-role.ts";
import { AT, scratchFeature } from "./scratch-feature.suite.ts";
import { settleAgent } from "./watch-reader.ts";

const KEY = { sessionId: "s1", agentId: "a1" };

/** The path of a hook: the prompt that starts a sub-agent, its shell commands, its end. */
async function judged(...lines: string[]): Promise<string[]> {
  const { parts, handle, folder, root } = scratchFeature();
  const outcome = await dispatchRole({ role: "design-reviewer", feature: folder }, parts);
  if (outcome.kind !== "dispatched") throw new Error(outcome.text);
  const found = readReferenceBlock(outcome.call.prompt);
  expect(found).toMatchObject({ folder, iteration: 1 });
  const documents = (found?.documents ?? []).map((document) => ({ lineCount: 0, ...document }));
  expectDocuments(handle, KEY, { role: "design-reviewer", folder, iteration: 1, documents }, AT);
  for (const line of lines) {
    const seen = seenIn({ tool: "shell", commands: commandsIn(line), cwd: folder }, documents, { cwd: root });
    recordSeen(handle, KEY, seen);
  }
  const settled = settleAgent(handle, KEY, { feature: "f", sendBack: false, now: AT });
  if (settled.kind !== "settled") throw new Error(settled.kind);
  return settled.judgement.documents.map(({ file, status }) => `${file} ${status}`);
}

it("a shell command that prints a file is a receipt", async () => {
  expect(await judged("cat prd.md", "head -4 spec.md && tail -n +5 spec.md")).toEqual(["prd.md read", "spec.md read"]);
  expect(await judged("sed -n 1,3p spec.md | cat -n")).toEqual(["prd.md unread", "spec.md partial"]);
});

it("one that copies it, counts it or throws it away is none", async () => {
  expect(
    await judged(
      "cat prd.md > copy.md",
      "cat spec.md >> /tmp/all.md; wc -l spec.md",
      "cat prd.md spec.md &> /dev/null",
      "(cat prd.md; cat spec.md) > copy.md",
      "for f in *.md; do cat $f; done > all.md",
      "bash -c 'cat prd.md spec.md' 1> copy.md",
      "cp prd.md copy.md && grep -c . spec.md",
    ),
  ).toEqual(["prd.md unread", "spec.md unread"]);
});
