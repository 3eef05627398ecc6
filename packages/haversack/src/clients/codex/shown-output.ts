/**
 * What a command of Codex (seen in 0.166.0) showed the model: the client has no tool to read files, so this is how a sub-agent reads its
 * documents. Undefined: no command, or one that failed. Loaded by the hook.
 */
import { type Fields, object, text } from "./events.ts";
import { type endedCommand, endOfCommand } from "./rollout.ts";

export interface ShownOutput {
  command: string;
  output: string;
}

export function readCodexOutput(payload: Fields, findEnd?: typeof endedCommand): ShownOutput | undefined {
  if (payload["hook_event_name"] !== "PostToolUse" || payload["tool_name"] !== "Bash") return undefined;
  const command = text(object(payload["tool_input"])["command"]);
  const output = payload["tool_response"];
  if (!command || typeof output !== "string") return undefined;
  // The payload does not say how it ended. Where the session's file does not either, the output is all there is.
  const { exitCode = 0 } = endOfCommand(payload, findEnd) ?? {};
  return exitCode === 0 ? { command, output: withoutCut(output) } : undefined;
}

/** The hook gets what the model gets: of a long output the head and the tail, with three lines before it. Only the head is counted. */
function withoutCut(output: string): string {
  const head = /^Warning: truncated output \(original token count: \d+\)\nTotal output lines: \d+\n\n/.exec(
    output,
  )?.[0];
  if (head === undefined) return output;
  const cut = output.search(/…\d+ (?:tokens|chars) truncated…/);
  // The line in the middle of which it is cut was not seen.
  return cut < 0 ? "" : output.slice(head.length, output.lastIndexOf("\n", cut) + 1);
}
