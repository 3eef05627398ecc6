/**
 * The time that our hooks add to a prompt and to a tool call in the real clients, with 300 skills and 10,000 tasks: one session without
 * hooks, one whose hooks ask the running MCP server, and one whose hooks are commands. Each round has a turn of each.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeProgram } from "../../test/clients/claude-code/install.ts";
import { codexProgram } from "../../test/clients/codex/install.ts";
import { type ClientSession, type SessionPlace, startClaude, startCodex, type Turn } from "../client-session.ts";
import { type Benchmark, type BenchResult, type Goal, quantile } from "../harness.ts";
import { makeScratch, type Scratch } from "../scratch.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";
import { fill } from "./wake.ts";

const ROUNDS_AT_LEAST = 60;
/** Turns that are not counted: the client compiles, connects to its MCP server and opens files. */
const WARM_UP = 4;

const VARIANTS = ["no hook", "server", "command"] as const;
type Variant = (typeof VARIANTS)[number];

interface Measured {
  name: string;
  title: string;
  program(): string;
  start(place: SessionPlace): Promise<ClientSession>;
  /** Relative to the scratch project or to the client's own folder. */
  hooksFile: string;
  /** How much the running server may add, as a share of what a command adds. */
  limits: { promptMs: number; toolMs: number };
}

const CLIENTS: readonly Measured[] = [
  {
    ...{ name: "claude-code", title: "Claude Code", program: claudeProgram, start: startClaude },
    hooksFile: "config/settings.json",
    limits: { promptMs: 0.25, toolMs: 0.3 },
  },
  {
    ...{ name: "codex", title: "Codex", program: codexProgram, start: startCodex },
    hooksFile: "codex/hooks.json",
    limits: { promptMs: 0.35, toolMs: 0.35 },
  },
];

export const clientLatency: Benchmark = {
  name: "client-latency",
  summary: "what hooks add to a prompt and a tool call in the real clients: none, the running server, commands",
  async run({ runs }) {
    const result: BenchResult & { goals: Goal[]; notes: string[] } = {
      table: {
        columns: ["client, step", "no hook ms", "server ms", "command ms", "server adds", "command adds"],
        rows: [],
      },
      goals: [],
      notes: [],
    };
    for (const client of CLIENTS) {
      const program = installed(client);
      if (!program) {
        result.notes.push(
          `${client.title} is not installed in test/clients/${client.name} (npm run test:clients): skipped.`,
        );
        continue;
      }
      const rounds = Math.max(runs, ROUNDS_AT_LEAST);
      const turns = await measure(client, program, rounds);
      report(client, turns, result);
      result.notes.push(
        `${client.title}: ${rounds} rounds; what is added is the median of the differences within rounds.`,
      );
    }
    return result;
  },
};

function installed({ program }: Measured): string | undefined {
  try {
    return program();
  } catch {
    // The client is not installed.
    return undefined;
  }
}

type Turns = Record<Variant, Turn[]>;

async function measure(client: Measured, program: string, rounds: number): Promise<Turns> {
  const scratches: Scratch[] = [];
  const sessions: ClientSession[] = [];
  try {
    for (const variant of VARIANTS) {
      const scratch = makeScratch();
      scratches.push(scratch);
      await fill(scratch, {});
      const place = wire(client, program, { scratch, variant });
      sessions.push(await client.start(place));
    }
    const prompts = promptsFor(rounds + WARM_UP);
    const turns: Turns = { "no hook": [], server: [], command: [] };
    for (const [round, prompt] of prompts.entries()) {
      for (const at of VARIANTS.keys()) {
        // The order rotates with every round.
        const place = (at + round) % VARIANTS.length;
        const turn = await sessions[place]!.turn(prompt);
        if (round >= WARM_UP) turns[VARIANTS[place]!].push(turn);
      }
    }
    const answered = VARIANTS.map((_, at) => answersOf(sessions[at]!, scratches[at]!));
    const [none, ...wired] = answered;
    // Check that the hooks did something, because hooks that do nothing are fast.
    if (none!.skills + none!.edits > 0 || wired.some(({ skills, edits }) => skills < rounds / 6 || edits < rounds)) {
      throw new Error(`${client.title}: this measures nothing: ${JSON.stringify(answered)}`);
    }
    return turns;
  } finally {
    const ended = await Promise.allSettled(sessions.map((session) => session.end()));
    for (const one of ended) if (one.status === "rejected") console.error(String(one.reason));
    for (const scratch of scratches) scratch.remove();
  }
}

/** Wired by `init`, in the user's settings. The MCP server is present without hooks too, so only the hooks differ. */
function wire(
  { name, hooksFile }: Measured,
  program: string,
  { scratch, variant }: { scratch: Scratch; variant: Variant },
): SessionPlace {
  const { root, bin } = scratch;
  const base = dirname(root);
  for (const folder of ["home", "tmp", "config", "codex"]) mkdirSync(join(base, folder), { recursive: true });
  const own = { TMPDIR: join(base, "tmp"), CLAUDE_CONFIG_DIR: join(base, "config"), CODEX_HOME: join(base, "codex") };
  const env = { ...scratch.env, ...own };
  const way = variant === "server" ? "server" : "command";
  const PATH = `${dirname(program)}:${process.env["PATH"] ?? ""}`;
  const words = [bin, "init", "--user", "--yes", "--client", name, "--hooks", way];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, env: { ...env, PATH }, encoding: "utf8" });
  if (status !== 0) throw new Error(`haversack init: ${stderr}`);
  const file = join(base, hooksFile);
  const settings = JSON.parse(readFileSync(file, "utf8"));
  const asked = JSON.stringify(settings).includes("mcp_tool");
  if (asked !== (variant === "server")) throw new Error(`${file}: hooks of another kind than ${variant}`);
  if (variant === "no hook") writeFileSync(file, JSON.stringify({ ...settings, hooks: {} }));
  return { program, root, env };
}

/** How many skills the window received, and how many edits were recorded. */
function answersOf(session: ClientSession, { root, env, bin }: Scratch): { skills: number; edits: number } {
  const request = session.lastRequest();
  const text = JSON.stringify(request?.body ?? "");
  const words = [bin, "wip", "--session", request?.sessionId ?? "", "--json"];
  const { stdout } = spawnSync(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  const files = JSON.parse(stdout || "{}").wip?.files_modified;
  return {
    skills: syntheticSkills(300).filter(({ name }) => text.includes(`## ${name}`)).length,
    edits: Array.isArray(files) ? files.length : 0,
  };
}

/** Every third prompt uses the words of a skill that the window has not seen; the others match by chance or not at all. */
function promptsFor(count: number): string[] {
  const skills = syntheticSkills(300);
  return syntheticPrompts(count).map((prompt, at) => {
    const words = skills[at]?.text.split("Use when ")[1]?.split(" ").slice(0, 12).join(" ");
    return at % 3 === 0 ? `please ${words}` : prompt;
  });
}

const STEPS = [
  ["promptMs", "prompt to model request"],
  ["toolMs", "tool call to model request"],
] as const;

function report(
  { title, limits }: Measured,
  turns: Turns,
  { table, goals }: { table: BenchResult["table"]; goals: Goal[] },
): void {
  for (const [step, name] of STEPS) {
    const times = (variant: Variant) => turns[variant].map((turn) => turn[step]);
    const none = times("no hook");
    const added = (variant: Variant) =>
      quantile(
        times(variant).map((ms, round) => ms - (none[round] ?? Number.NaN)),
        0.5,
      );
    const [server, command] = [added("server"), added("command")];
    const medians = VARIANTS.map((variant) => quantile(times(variant), 0.5).toFixed(1));
    table.rows.push([`${title}, ${name}`, ...medians, server.toFixed(1), command.toFixed(1)]);
    goals.push({
      name: `${title}, ${name}: what the server adds against a command`,
      value: server / command,
      limit: limits[step],
      side: "at-most",
      unit: " x",
    });
  }
}
