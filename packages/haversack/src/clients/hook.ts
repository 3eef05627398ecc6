/**
 * The process that a client starts for an event: `hook.cjs CLIENT`, with the payload on standard input and the answer on standard output.
 * This file only loads hook-events.cjs and, through it, the chunks that the event needs, as cached bytecode: see compiled-code.ts.
 * scripts/build-hook.mjs defines the chunks.
 *
 * A hook never disturbs the session: on any error it prints nothing and exits with 0.
 */
import { readFileSync } from "node:fs";
import { compiledFiles } from "../base/compiled-code.ts";

/** A hash of the hook's files, written by the build. */
declare const __HOOK_BUILD__: string;

function main(): void {
  try {
    const payload = JSON.parse(readFileSync(0, "utf8"));
    const files = compiledFiles(wayOf(payload), __HOOK_BUILD__, process.env);
    const events = files.load("./hook-events.cjs") as typeof import("./hook-events.ts");
    const outcome = events.answerProcess(payload);
    events.keepCompiled(files.loaded, outcome);
  } catch {
    // Invalid JSON, or an installation with a missing file. Without a project there is no log to write to.
  }
}

/** The key of the bytecode entry: events that run the same functions. All unknown events share one key. */
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
// A normal end and process.exit would close the store and copy its WAL into the main file, which takes too long here.
// Committed data is safe without that. process.exit itself ends with this method.
(process as unknown as { reallyExit(code: number): never }).reallyExit(0);
