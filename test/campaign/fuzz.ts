/** Mutated payloads of every event and client: inside this process, and as the processes that clients start. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Refusal } from "../../packages/haversack/src/clients/opencode/guard.ts";
import { localEngine } from "../../packages/haversack/src/clients/opencode/local-engine.ts";
import { haversackPlugin } from "../../packages/haversack/src/clients/opencode/plugin.ts";
import { hookInProcess } from "./in-process.ts";
import { hookPayload, opencodeCall } from "./payloads.ts";
import { hook, makeProject, type Project } from "./project.ts";
import type { Random } from "./random.ts";
import { countHook, fits, newTally, type Tally, tell } from "./tally.ts";

/** After this many payloads a new project is made, so that tables do not grow larger than in years of use. */
const PER_PROJECT = 10_000;

export async function fuzzInProcess(random: Random, count: number, progress: (done: number) => void): Promise<Tally> {
  const tally = newTally();
  const inside = hookInProcess();
  const faults = new Faults();
  let isStopped = false;
  // A long run can be ended early and still prints its results.
  process.once("SIGTERM", () => void (isStopped = true));
  for (let done = 0; done < count; done += PER_PROJECT) {
    const project = makeProject();
    // While this connection is open, no event is the last to close the store. Closing it last would copy the log each time.
    const held = new DatabaseSync(project.store);
    for (let at = done; at < Math.min(count, done + PER_PROJECT); at++) {
      const { client, bytes, value } = hookPayload(random, project);
      const env = random.chance(0.3) ? { HAVERSACK_AGENT: "lead" } : {};
      const ran = inside.run(project, client, bytes, env as Record<string, string>);
      countHook(tally, { client, ...ran, given: value, label: `${client} ${bytes.toString("latin1").slice(0, 300)}` });
      if (at % 500 === 0) held.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    held.close();
    inside.end();
    process.chdir("/");
    faults.collect(project);
    project.remove();
    progress(Math.min(count, done + PER_PROJECT));
    // Lets a signal through.
    await new Promise((resolve) => setImmediate(resolve));
    if (isStopped) break;
  }
  faults.into(tally);
  return tally;
}

export async function fuzzProcesses(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  for (let at = 0; at < count; at++) {
    const { client, bytes, value } = hookPayload(random, project);
    const { code, ...ran } = hook(project, client, bytes);
    countHook(tally, {
      client,
      exitCode: code,
      ...ran,
      given: value,
      label: `${client} ${bytes.toString("latin1").slice(0, 300)}`,
    });
  }
  const faults = new Faults();
  faults.collect(project);
  faults.into(tally);
  project.remove();
  return tally;
}

/** Calls of one plugin, before it is loaded again. After many faults its guard pauses. */
const PER_PLUGIN = 200;

/** The opencode plugin has no process for each event: it runs inside the client, and here inside this process. */
export async function fuzzOpencode(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  const faults = new Faults();
  const client = {
    session: { get: async () => ({ data: {} }), messages: async () => ({ data: [] }), prompt: async () => ({}) },
  };
  let plugin: Record<string, ((input: unknown, output: unknown) => Promise<void>) | undefined> = {};
  for (let at = 0; at < count; at++) {
    if (at % PER_PLUGIN === 0) {
      const engine = localEngine({ root: project.root, env: project.env, cli: [] });
      plugin = haversackPlugin(
        { directory: project.root, worktree: project.root, client },
        { engine, addTo: () => undefined },
      ) as typeof plugin;
    }
    const { hook: name, input, output } = opencodeCall(random, project);
    const before = textsOf(output);
    const startedAt = performance.now();
    try {
      await plugin[NAMES[name] ?? name]?.(input, output);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        tally.badExits++;
        tell(tally, `${name} threw ${String((error as Error).stack).slice(0, 300)}`);
      }
    }
    tally.cases++;
    tally.longestMs = Math.max(tally.longestMs, performance.now() - startedAt);
    const added = textsOf(output).filter((text) => !before.includes(text));
    if (added.length > 0) tally.answers++;
    if (added.some((text) => !fits("opencode", text))) {
      tally.overCap++;
      tell(tally, `over the cap: opencode ${name}`);
    }
  }
  faults.collect(project);
  faults.into(tally);
  project.remove();
  return tally;
}

const NAMES: Record<string, string> = { "compaction.autocontinue": "experimental.compaction.autocontinue" };

/** The texts of parts. A tool's result with added text counts as the tool's own. */
function textsOf(output: unknown): string[] {
  const parts = (output as { parts?: unknown } | null)?.parts;
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => (typeof part?.text === "string" ? [part.text as string] : []));
}

/** Faults that hooks wrote into the log. They break no promise, but each is worth a look. */
class Faults {
  readonly #counts = new Map<string, number>();

  collect({ root }: Project): void {
    const folder = join(root, ".haversack/log");
    let names: string[] = [];
    try {
      names = readdirSync(folder);
    } catch {
      // Nothing was logged.
    }
    for (const line of names.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))) {
      const { level, text } = (line ? JSON.parse(line) : {}) as { level?: string; text?: string };
      if (level !== "error" || !text) continue;
      const short = text.replaceAll(root, "ROOT").replace(/\d+/g, "N").slice(0, 160);
      this.#counts.set(short, (this.#counts.get(short) ?? 0) + 1);
    }
  }

  into(tally: Tally): void {
    for (const [text, count] of [...this.#counts].sort((one, other) => other[1] - one[1]).slice(0, 10))
      tally.notes.push(`logged ${count} times: ${text}`);
  }
}
