/**
 * The process that a client starts at an event: `hook.cjs CLIENT`, the client's payload on standard input, the answer on standard output.
 * This file only loads hook-events.cjs, and through it hook-later.cjs, in the form that V8 has compiled them to before: see
 * compiled-code.ts. Where the two are cut is decided in scripts/build-hook.mjs.
 *
 * A hook never harms the session: whatever goes wrong, nothing is printed, and the exit code is 0.
 */
import { readFileSync } from "node:fs";
import { compiledFiles } from "./compiled-code.ts";

function main(): void {
  try {
    const payload = JSON.parse(readFileSync(0, "utf8"));
    const files = compiledFiles(wayOf(payload), process.env);
    const events = files.load("./hook-events.cjs") as typeof import("./hook-events.ts");
    events.answerProcess(payload);
    for (const entry of files.toKeep) events.keepCompiled(entry);
  } catch {
    // No JSON, or an installation with a file missing: without a project there is no log to write to.
  }
}

/** What decides which functions run. All that is not known is one way. */
function wayOf({ hook_event_name: event, tool_name: tool }: Record<string, unknown>): string {
  const way = WAYS.includes(String(event)) ? String(event) : "other";
  return tool === "Bash" ? `${way}-Bash` : way;
}

const WAYS = [
  ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart"],
  ...["SubagentStop", "Stop", "SessionEnd", "PreCompact", "PostCompact"],
  ...["BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"],
];

if (process.env["HAVERSACK"] !== "0") main();
// A normal end, and process.exit too, would close the store and copy its log into the main file: time that nobody has here.
// What was committed is safe without it. The method is what process.exit itself ends with.
(process as unknown as { reallyExit(code: number): never }).reallyExit(0);
