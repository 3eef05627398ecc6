/** Runs what Codex would run: one event through each hook command, and the MCP server, in a copy of the project's state. */
import { type Tried, tryHook } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { checkServer as checkAnyServer } from "../claude-code/check-running.ts";
import type { ServerCommand } from "../claude-code/server-guard.ts";
import type { OwnHook } from "../claude-code/settings.ts";
import { samplePayload } from "./sample-payloads.ts";

export async function checkEvents(hooks: readonly OwnHook[], place: CheckPlace): Promise<Finding[]> {
  const part = "codex events";
  const { scratch, isOff, env } = place;
  if (hooks.length === 0 || !scratch) return [];
  const sessionId = `haversack-doctor-codex-${process.pid}`;
  const findings: Finding[] = [];
  let slowestMs = 0;
  for (const { event, command, timeoutSeconds = 600 } of hooks) {
    const payload = samplePayload(event, { sessionId, cwd: scratch.root });
    const tried = await tryHook(command, payload, {
      cwd: scratch.root,
      // HAVERSACK=0 of the person's shell would make every hook silent. HAVERSACK_DOCTOR: no rebuild in the background.
      env: { ...env, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1" },
      limitMs: Math.min(timeoutSeconds, 60) * 1000,
    });
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
    const remedy = "a runtime below Node 22.16 is silent: run `haversack init` with a newer one";
    findings.push({ part, level: "fail", text: "the hooks run and record nothing", remedy });
  }
  if (findings.length > 0) return findings;
  return [{ part, level: "ok", text: `${hooks.length} test events answered, the slowest in ${slowestMs} ms` }];
}

export async function checkServer(command: ServerCommand, place: CheckPlace): Promise<Finding> {
  return { ...(await checkAnyServer(command, place)), part: "codex MCP server" };
}

/** What the client would make of the answer. */
function eventProblem(event: string, { exitCode, stdout, stderr, isTimedOut }: Tried): string | undefined {
  const [said = ""] = stderr.trim().split("\n");
  if (isTimedOut) return "no answer in its time";
  if (exitCode !== 0) return `exit code ${exitCode}${said ? `: ${said}` : ""}`;
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
