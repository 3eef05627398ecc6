/**
 * Drives the shipped opencode plugin as the client does, for benchmarks/opencode.ts: `drive-opencode.ts PLUGIN ROOT PLAN`, run by the
 * client's own runtime or by Node. Prints the time of each call in milliseconds. Awaits the plugin's hooks one after the other, as
 * the client does. The processor time includes all threads of the process, also those for compiling and garbage collection.
 */
import { pathToFileURL } from "node:url";

export interface DrivePlan {
  /** How long the client is busy between loading the plugin and the first prompt, in milliseconds. */
  restMs: number;
  /** The first prompt of a session. */
  first: string;
  /** Later prompts of that session. */
  silent: readonly string[];
  fitting: readonly string[];
  /** Files that a tool has written. */
  writes: readonly string[];
}

export interface Sample {
  ms: number;
  cpuMs: number;
}

export interface DriveTimes {
  runtime: string;
  load: Sample;
  first: Sample;
  /** Whether the first prompt got a text, because a plugin that does nothing is fast. */
  hasText: boolean;
  silent: Sample[];
  fitting: Sample[];
  /** How many of the fitting prompts got a text. */
  texts: number;
  writes: Sample[];
  /** The first prompt of another session in the same process. */
  second: Sample;
}

type Hooks = Record<string, ((input: unknown, output?: unknown) => Promise<void>) | undefined>;

const [, , plugin = "", root = "", planText = "{}"] = process.argv;
const plan = JSON.parse(planText) as DrivePlan;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const { versions } = process;

const session = { get: async () => ({ data: {} }), prompt: async () => ({}) };
let hooks: Hooks = {};
const load = await timed(async () => {
  const { Haversack } = (await import(pathToFileURL(plugin).href)) as {
    Haversack(input: unknown, options: unknown): Promise<Hooks>;
  };
  hooks = await Haversack({ directory: root, worktree: root, client: { session } }, { server: [] });
});
await hooks["config"]?.({});
if (plan.restMs > 0) await pause(plan.restMs);

const name = `ses_${process.pid}`;
let count = 0;
const first = await begin(name);
const times: DriveTimes = {
  runtime: versions["bun"] ? `Bun ${versions["bun"]}` : `Node ${versions.node}`,
  load,
  first,
  hasText: first.isAnswered,
  silent: [],
  fitting: [],
  texts: 0,
  writes: [],
  second: first,
};
// Pause between prompts, as the user thinks and the model answers: a real client never runs at full speed for long.
for (const text of plan.silent) {
  await pause(1);
  times.silent.push(await prompt(name, text));
}
for (const text of plan.fitting) {
  await pause(1);
  const { isAnswered, ...sample } = await prompt(name, text);
  times.fitting.push(sample);
  if (isAnswered) times.texts++;
}
for (const [at, filePath] of plan.writes.entries()) {
  await pause(1);
  const input = { tool: "write", sessionID: name, callID: `call_${at}`, args: { filePath, content: "x" } };
  const output = { title: filePath, output: "Wrote file successfully.", metadata: { filepath: filePath } };
  times.writes.push(await timed(async () => hooks["tool.execute.after"]?.(input, output)));
}
times.second = await begin(`${name}_second`);
console.log(JSON.stringify(times));
process.exit(0);

async function begin(sessionID: string): Promise<Sample & { isAnswered: boolean }> {
  await hooks["event"]?.({ event: { type: "session.created", properties: { sessionID, info: { id: sessionID } } } });
  return prompt(sessionID, plan.first);
}

async function prompt(sessionID: string, text: string): Promise<Sample & { isAnswered: boolean }> {
  const messageID = `msg_${count++}`;
  const parts = [{ id: `prt_${count}`, sessionID, messageID, type: "text", text }];
  const input = { sessionID, agent: "build", messageID };
  const sample = await timed(async () => hooks["chat.message"]?.(input, { message: { id: messageID }, parts }));
  return { ...sample, isAnswered: parts.length > 1 };
}

async function timed(action: () => Promise<unknown>): Promise<Sample> {
  const before = process.cpuUsage();
  const since = performance.now();
  await action();
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000 };
}
