/**
 * What `doctor` checks in every client: readable settings, present and current hooks, and the answers of hooks and MCP server to test
 * events in a copy of the project's state. Checks for a single client are in its wiring.ts.
 */
import { existsSync } from "node:fs";
import { errorText } from "../base/errors.ts";
import { readText } from "../engine/init.ts";
import { type Tried, tryHook, tryMcpServer } from "../engine/try-process.ts";
import type { CheckPlace, Finding } from "../engine/wiring.ts";
import { canAskServer, isTooOldToAsk } from "./client-program.ts";
import { type ClientName, FACTS } from "./facts.ts";
import { type HookEntry, type HookTable, hookGroups, ownHooks, readSettings, waysOf } from "./hook-settings.ts";
import type { RegisteredHook } from "./plugin-package.ts";
import { samplePayload } from "./sample-payloads.ts";
import { type ServerCommand, unguarded } from "./server-entry.ts";

/** What `doctor` says about one part. */
export function findings(part: string) {
  return {
    ok: (text: string): Finding => ({ part, level: "ok", text }),
    warn: (text: string, remedy: string): Finding => ({ part, level: "warn", text, remedy }),
    fail: (text: string, remedy: string): Finding => ({ part, level: "fail", text, remedy }),
  };
}

export interface SettingsValue {
  path: string;
  value: Record<string, unknown>;
}

/** Skips absent and empty files. Unreadable files become findings. */
export function readSettingsFiles(
  table: HookTable,
  paths: readonly string[],
  unreadable: Pick<Finding, "level" | "remedy"> = IGNORED,
): { files: SettingsValue[]; problems: Finding[] } {
  const files: SettingsValue[] = [];
  const problems: Finding[] = [];
  for (const path of paths) {
    try {
      const text = readText(path);
      if (text?.trim()) files.push({ path, value: readSettings(table, text, path) });
    } catch (error) {
      problems.push({ part: `${table.client} settings`, text: errorText(error), ...unreadable });
    }
  }
  return { files, problems };
}

const IGNORED = { level: "fail", remedy: "correct it: the client ignores the whole file as it is" } as const;

export interface WiredIn {
  path: string;
  hooks: HookEntry[];
}

export function wiredFiles({ client }: HookTable, files: readonly SettingsValue[]): WiredIn[] {
  const wired = files.map(({ path, value }) => ({ path, hooks: ownHooks(client, value) }));
  return wired.filter(({ hooks }) => hooks.length > 0);
}

/** The same command in several settings runs once, so each command is tried once. */
export function presentHooks(wired: readonly WiredIn[]): HookEntry[] {
  const commands = new Map(wired.flatMap(({ hooks }) => hooks).map((hook) => [`${hook.event} ${hook.command}`, hook]));
  return [...commands.values()].filter(({ node, hook }) => existsSync(node) && existsSync(hook));
}

/** `remedy`: what repairs this file. `whyUnanswered`: why the server does not answer its events; default: an old client. */
export function checkHooks(
  table: HookTable,
  { path, hooks }: WiredIn,
  {
    place: { hasGuards, seesOutputs = false, installed, env },
    remedy,
    whyUnanswered = () => (isTooOldToAsk(table.client, env) ? tooOld(table.client) : undefined),
  }: { place: CheckPlace; remedy: string; whyUnanswered?(): string | undefined },
): Finding[] {
  const say = findings(`${table.client} hooks`);
  const found: Finding[] = [];
  const add = (level: "warn" | "fail", text: string) => void found.push(say[level](`${path}: ${text}`, remedy));
  const expected = hookGroups(table, "", { hasGuards, seesOutputs });
  const missing = Object.keys(expected).filter((event) => !hooks.some((hook) => hook.event === event));
  if (missing.length > 0) add("fail", `no hook for ${missing.join(", ")}`);
  for (const { event, matcher } of hooks) {
    if (!expected[event] || expected[event].matcher === matcher) continue;
    const why =
      hasGuards && /^(?:PreToolUse|BeforeTool)$/.test(event) ? "; rules guard files, and it does not see edits" : "";
    add("warn", `${event} has another matcher than this version writes${why}`);
  }
  const commands = hooks.filter(({ way }) => way === "command");
  const unanswered = commands.length < hooks.length ? whyUnanswered() : undefined;
  if (unanswered) add("fail", `asks the MCP server at events, ${unanswered}`);
  for (const file of new Set(commands.flatMap(({ node, hook }) => [node, hook]))) {
    if (!existsSync(file)) add("fail", `${file} is gone, so the hooks are silent`);
  }
  for (const hook of new Set(commands.map((command) => command.hook))) {
    if (hook !== installed.hook && existsSync(hook)) add("warn", `runs ${hook}, and you run ${installed.hook}`);
  }
  if (found.length > 0) return found;
  const ways = table.asked ? `; ${waysOf(hooks, canAskServer(table.client, env))}` : "";
  return [say.ok(`all ${hooks.length} in ${path}${ways}`)];
}

export function tooOld(client: ClientName): string {
  return `which an installed ${FACTS[client].program} is too old for: it may ignore all hooks of this file`;
}

/** An installed client without our hooks is the user's choice, unless `init` had wired it: then the hooks were lost. */
export function notWired(
  part: string,
  { what, remedy, wasWired }: { what: string; remedy: string; wasWired: boolean },
): Finding {
  return wasWired
    ? { part, level: "fail", text: `not connected any more: ${what}`, remedy, isSilencing: true }
    : { part, level: "ok", text: `not connected; ${remedy}`, isSilencing: true };
}

/** The command that wires the client in the same way again. */
export function initCommand({ wiredFor }: CheckPlace, client?: ClientName): string {
  return `haversack init${client ? ` --client ${client}` : ""}${wiredFor === "user" ? " --user" : ""}`;
}

/** Test events for the server, even if the hooks use processes, so both ways are measured. */
export function serverEvents({ client, asked }: HookTable, { scratch }: CheckPlace): Record<string, unknown>[] {
  const at = { sessionId: `haversack-doctor-${process.pid}-server`, cwd: scratch?.root ?? "" };
  return Object.keys(asked?.(false) ?? {}).map((event) => samplePayload(client, event, at));
}

/** A client whose hooks `doctor` runs. */
export interface RunningClient {
  name: ClientName;
  /** Variables that the client sets for its processes. */
  variables(cwd: string): Readonly<Record<string, string>>;
}

/** Never wait longer than this, even if the client would: the user waits for `doctor`. */
const LONGEST_MS = 60_000;

export async function checkEvents(
  client: RunningClient & { hooks: HookTable },
  hooks: readonly RegisteredHook[],
  place: CheckPlace,
  more: Extra = {},
): Promise<Finding[]> {
  const { ok, fail } = findings(`${client.name} events`);
  const { scratch, isOff } = place;
  if (hooks.length === 0 || !scratch) return [];
  const sessionId = `haversack-doctor-${process.pid}`;
  const found: Finding[] = [];
  let slowestMs = 0;
  for (const { event, command, timeout = Number.POSITIVE_INFINITY } of hooks) {
    const payload = samplePayload(client.name, event, { sessionId, cwd: scratch.root });
    const limitMs = Math.min(timeout * client.hooks.unitMs, LONGEST_MS);
    const tried = await tryHook(command, payload, { ...runIn(client, place, more), limitMs });
    slowestMs = Math.max(slowestMs, tried.tookMs);
    const problem = eventProblem(event, tried);
    const remedy = "`haversack log --level error` may say why; `haversack init` writes the hooks again";
    if (problem) found.push(fail(`${event}: ${problem}`, remedy));
  }
  for (const text of scratch.errors().slice(0, 3)) {
    const remedy = "look at what the message names; until then sessions work without Haversack";
    found.push(fail(`the hook reports: ${text}`, remedy));
  }
  if (found.length === 0 && !isOff && !scratch.hasSession(sessionId)) {
    const remedy = "a runtime below Node 22.16 is silent: run `haversack init` with a newer one";
    found.push(fail("the hooks run and record nothing", remedy));
  }
  if (found.length > 0) return found;
  return [ok(`${hooks.length} test events answered, the slowest in ${slowestMs} ms`)];
}

export async function checkServer(
  client: RunningClient,
  { command, args }: ServerCommand,
  place: CheckPlace,
  { more = {}, events = [] }: { more?: Extra; events?: readonly Record<string, unknown>[] } = {},
): Promise<Finding> {
  const { ok, fail } = findings(`${client.name} MCP server`);
  const own = unguarded({ command, args });
  const words = [own.command, ...own.args];
  const gone = words.slice(0, 2).find((file) => file.startsWith("/") && !existsSync(file));
  if (gone) return fail(`${gone} is gone`, "`haversack init` repairs it");
  if (!place.scratch) return ok("not started: there is no sound store to try it with");
  // The first call also opens the store, so one extra event goes first.
  const asked = [...events.slice(0, 1), ...events];
  const calls = asked.map((event) => ({ name: "hook", arguments: { client: client.name, ...event } }));
  const answer = await tryMcpServer(command, args, { ...runIn(client, place, more), limitMs: 15_000, calls });
  // The guard answers in place of a missing program; see server-entry.ts.
  const standIn = !("problem" in answer) && answer.serverVersion === "0" && `${own.command} cannot be run`;
  const problem = "problem" in answer ? answer.problem : standIn;
  if ("problem" in answer || problem) {
    return fail(`does not start: ${problem}`, `run \`${words.join(" ")}\` by hand and see what it prints`);
  }
  const { tools, tookMs } = answer;
  // When Haversack is switched off, the server correctly lists no tools.
  if (!tools.includes("skill") && !place.isOff) {
    return fail('starts without the tool "skill"', "install haversack again, then run `haversack init`");
  }
  const wrong = answer.calls.findIndex(({ text, isError }) => isError || !isJson(text));
  if (wrong >= 0 || answer.calls.length < calls.length) {
    const event = String(asked[wrong < 0 ? answer.calls.length : wrong]?.["hook_event_name"]);
    const remedy = "`haversack init --hooks command` starts a process for each event instead";
    return fail(`does not answer the event ${event}`, remedy);
  }
  const [fastest, slowest] = [Math.min, Math.max].map((pick) =>
    pick(...answer.calls.slice(1).map((one) => one.tookMs)),
  );
  const speed = events.length > 0 ? `; answers events in ${fastest!.toFixed(1)} to ${slowest!.toFixed(1)} ms` : "";
  return ok(
    `starts in ${tookMs} ms with ${tools.length === 1 ? "the tool" : `${tools.length} tools:`} ${tools.slice(0, 3).join(", ")}${tools.length > 3 ? ", …" : ""}${speed}`,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The client would drop the answer.
    return false;
  }
}

/** Variables for a plugin's processes. */
type Extra = Readonly<Record<string, string>>;

function runIn({ variables }: RunningClient, { env, scratch }: CheckPlace, more: Extra) {
  const cwd = scratch?.root ?? "";
  // HAVERSACK=0 in the user's shell would silence every hook. HAVERSACK_DOCTOR prevents a rebuild in the background.
  const own = { XDG_STATE_HOME: scratch?.stateHome, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1" };
  return { cwd, env: { ...env, ...variables(cwd), ...more, ...own } };
}

/** How the client would take the answer. */
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
    return "answers with something that is not JSON";
  }
}
