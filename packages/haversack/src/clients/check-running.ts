/** Runs what a client would run: one event through each hook command, and the MCP server, in a copy of the project's state. */
import { existsSync } from "node:fs";
import { type Tried, tryHook, tryMcpServer } from "../engine/try-process.ts";
import type { CheckPlace, Finding } from "../engine/wiring.ts";
import { type ServerCommand, unguarded } from "./claude-code/server-guard.ts";

/** A hook as it is registered, by `init` or by a plugin. */
export interface RegisteredHook {
  event: string;
  command: string;
  /** In the client's unit. */
  timeout: number | undefined;
}

export interface RunningClient {
  name: string;
  /** A payload as the client sends it. */
  sample(event: string, place: { sessionId: string; cwd: string }): Record<string, unknown>;
  /** Of the hooks' times. */
  unitMs: number;
  /** Variables that the client sets for its processes. */
  variables(cwd: string): Readonly<Record<string, string>>;
}

/** However long a client would wait: a person waits for `doctor`. */
const LONGEST_MS = 60_000;

export async function checkEvents(
  client: RunningClient,
  hooks: readonly RegisteredHook[],
  place: CheckPlace,
  more: Extra = {},
): Promise<Finding[]> {
  const part = `${client.name} events`;
  const { scratch, isOff } = place;
  if (hooks.length === 0 || !scratch) return [];
  const sessionId = `haversack-doctor-${process.pid}`;
  const findings: Finding[] = [];
  let slowestMs = 0;
  for (const { event, command, timeout = Number.POSITIVE_INFINITY } of hooks) {
    const payload = client.sample(event, { sessionId, cwd: scratch.root });
    const limitMs = Math.min(timeout * client.unitMs, LONGEST_MS);
    const tried = await tryHook(command, payload, { ...runIn(client, place, more), limitMs });
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
  client: Pick<RunningClient, "name" | "variables">,
  { command, args }: ServerCommand,
  place: CheckPlace,
  { more = {}, events = [] }: { more?: Extra; events?: readonly Record<string, unknown>[] } = {},
): Promise<Finding> {
  const part = `${client.name} MCP server`;
  const own = unguarded({ command, args });
  const words = [own.command, ...own.args];
  const gone = words.slice(0, 2).find((file) => file.startsWith("/") && !existsSync(file));
  if (gone) return { part, level: "fail", text: `${gone} is gone`, remedy: "`haversack init` repairs it" };
  if (!place.scratch) return { part, level: "ok", text: "not started: there is no sound store to try it with" };
  // The first of them opens the store.
  const asked = [...events.slice(0, 1), ...events];
  const calls = asked.map((event) => ({ name: "hook", arguments: { client: client.name, ...event } }));
  const answer = await tryMcpServer(command, args, { ...runIn(client, place, more), limitMs: 15_000, calls });
  // The guard that answers for a program that is gone; see claude-code/server-guard.ts.
  const standIn = !("problem" in answer) && answer.serverVersion === "0" && `${own.command} cannot be run`;
  const problem = "problem" in answer ? answer.problem : standIn;
  if ("problem" in answer || problem) {
    const remedy = `run \`${words.join(" ")}\` by hand and see what it prints`;
    return { part, level: "fail", text: `does not start: ${problem}`, remedy };
  }
  const { tools, tookMs } = answer;
  // Switched off it lists no tool, and that is right.
  if (!tools.includes("skill") && !place.isOff) {
    const remedy = "install haversack anew, then run `haversack init`";
    return { part, level: "fail", text: 'starts without the tool "skill"', remedy };
  }
  const wrong = answer.calls.findIndex(({ text, isError }) => isError || !isJson(text));
  if (wrong >= 0 || answer.calls.length < calls.length) {
    const event = String(asked[wrong < 0 ? answer.calls.length : wrong]?.["hook_event_name"]);
    const remedy = "`haversack init --hooks command` starts a process for each event instead";
    return { part, level: "fail", text: `does not answer the event ${event}`, remedy };
  }
  const [fastest, slowest] = [Math.min, Math.max].map((pick) =>
    pick(...answer.calls.slice(1).map((one) => one.tookMs)),
  );
  const speed = events.length > 0 ? `; answers events in ${fastest!.toFixed(1)} to ${slowest!.toFixed(1)} ms` : "";
  return {
    part,
    level: "ok",
    text: `starts in ${tookMs} ms with ${tools.length === 1 ? "the tool" : `${tools.length} tools:`} ${tools.slice(0, 3).join(", ")}${tools.length > 3 ? ", …" : ""}${speed}`,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The client would drop it.
    return false;
  }
}

/** Variables for a plugin's processes. */
type Extra = Readonly<Record<string, string>>;

function runIn({ variables }: Pick<RunningClient, "variables">, { env, scratch }: CheckPlace, more: Extra) {
  const cwd = scratch?.root ?? "";
  // HAVERSACK=0 of the person's shell would make every hook silent. HAVERSACK_DOCTOR: no rebuild in the background.
  const own = { XDG_STATE_HOME: scratch?.stateHome, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1" };
  return { cwd, env: { ...env, ...variables(cwd), ...more, ...own } };
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
