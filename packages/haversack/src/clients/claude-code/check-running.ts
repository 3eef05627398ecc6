/** Runs what the client would run: one event through each hook command, and the MCP server, in a copy of the project's state. */
import { existsSync } from "node:fs";
import { type Tried, tryHook, tryMcpServer } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { samplePayload } from "./sample-payloads.ts";
import { type ServerCommand, unguarded } from "./server-guard.ts";

/** A hook as it is registered, by `init` or by the plugin. */
export interface RegisteredHook {
  event: string;
  command: string;
  timeoutSeconds: number | undefined;
}

export async function checkEvents(
  hooks: readonly RegisteredHook[],
  place: CheckPlace,
  more: Extra = {},
): Promise<Finding[]> {
  const part = "claude-code events";
  const { scratch, isOff } = place;
  if (hooks.length === 0 || !scratch) return [];
  const sessionId = `haversack-doctor-${process.pid}`;
  const findings: Finding[] = [];
  let slowestMs = 0;
  for (const { event, command, timeoutSeconds = 60 } of hooks) {
    const payload = samplePayload(event, { sessionId, cwd: scratch.root });
    const tried = await tryHook(command, payload, { ...runIn(place, more), limitMs: timeoutSeconds * 1000 });
    slowestMs = Math.max(slowestMs, tried.tookMs);
    const problem = eventProblem(event, tried);
    const remedy = "`haversack log --level error` may say why; `haversack init` writes the hooks anew";
    if (problem) findings.push({ part, level: "fail", text: `${event}: ${problem}`, remedy });
  }
  for (const text of scratch.errors().slice(0, 3)) {
    const remedy = "see what the text names; sessions go on without Haversack meanwhile";
    findings.push({ part, level: "fail", text: `the hook reports: ${text}`, remedy });
  }
  if (findings.length === 0 && !isOff && !scratch.hasSession(sessionId)) {
    const text = "the hooks run and record nothing";
    const remedy = "a runtime below Node 22.16 is silent: run `haversack init` with a newer one";
    findings.push({ part, level: "fail", text, remedy });
  }
  if (findings.length > 0) return findings;
  return [{ part, level: "ok", text: `${hooks.length} test events answered, the slowest in ${slowestMs} ms` }];
}

export async function checkServer(
  { command, args }: ServerCommand,
  place: CheckPlace,
  more: Extra = {},
): Promise<Finding> {
  const part = "claude-code MCP server";
  const own = unguarded({ command, args });
  const words = [own.command, ...own.args];
  const gone = words.slice(0, 2).find((file) => file.startsWith("/") && !existsSync(file));
  if (gone) return { part, level: "fail", text: `${gone} is gone`, remedy: "`haversack init` repairs it" };
  if (!place.scratch) return { part, level: "ok", text: "not started: there is no sound store to try it with" };
  const answer = await tryMcpServer(command, args, { ...runIn(place, more), limitMs: 15_000 });
  if ("problem" in answer) {
    const remedy = `run \`${words.join(" ")}\` by hand and see what it prints`;
    return { part, level: "fail", text: `does not start: ${answer.problem}`, remedy };
  }
  const { tools, tookMs } = answer;
  // Switched off it lists no tool, and that is right.
  if (!tools.includes("skill") && !place.isOff) {
    const remedy = "install haversack anew, then run `haversack init`";
    return { part, level: "fail", text: 'starts without the tool "skill"', remedy };
  }
  return {
    part,
    level: "ok",
    text: `starts in ${tookMs} ms with ${tools.length === 1 ? "the tool" : "the tools"} ${tools.join(", ")}`,
  };
}

/** Variables that the client sets for a plugin's processes. */
type Extra = Record<string, string>;

function runIn({ env, scratch }: CheckPlace, more: Extra) {
  const cwd = scratch?.root ?? "";
  // HAVERSACK=0 of the person's shell would make every hook silent. HAVERSACK_DOCTOR: no rebuild in the background.
  return { cwd, env: { ...env, ...more, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1", CLAUDE_PROJECT_DIR: cwd } };
}

/** What the client would make of the answer. */
function eventProblem(event: string, { exitCode, stdout, stderr, isTimedOut }: Tried): string | undefined {
  const [said = ""] = stderr.trim().split("\n");
  if (isTimedOut) return "no answer in its time";
  if (exitCode !== 0) return `exit code ${exitCode}${said ? `: ${said}` : ""}`;
  if (said !== "") return `prints an error: ${said}`;
  if (stdout.trim() === "") return undefined;
  try {
    const { hookSpecificOutput } = JSON.parse(stdout) as { hookSpecificOutput?: { hookEventName?: string } };
    const named = hookSpecificOutput?.hookEventName;
    return named === undefined || named === event ? undefined : `answers as ${named}; the client drops that`;
  } catch {
    // The client would show it to the model as plain text.
    return "answers with something that is no JSON";
  }
}
