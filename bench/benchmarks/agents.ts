/**
 * The agents library: loading a skill, matching a task and importing the package in time; the skill look-ups of a replayed session that the cache
 * answers; the heap after many conversations; and the tokens of a first request with skills preloaded, listed, and loaded by task.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AgentSystemBuilder, type LoadedSkill } from "../../packages/haversack/src/agents/index.ts";
import { SkillAutoTrigger } from "../../packages/haversack/src/agents/skill-auto-trigger.ts";
import { SkillRegistry } from "../../packages/haversack/src/agents/skill-registry.ts";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import type { Benchmark } from "../harness.ts";
import { quantile } from "../harness.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";

const ROOT = join(import.meta.dirname, "../..");
const SKILLS = 500;
const CONVERSATIONS = 100_000;

export const agents: Benchmark = {
  name: "agents",
  summary: `the agents library: load and match with ${SKILLS} skills, cache, heap over ${CONVERSATIONS} conversations, import, tokens`,
  async run({ runs, events }) {
    const folder = mkdtempSync(join(tmpdir(), "haversack-bench-agents-"));
    try {
      const times = timeSkills(join(folder, "many"));
      const cache = await replaySession(join(folder, "session"));
      const heap = await fillHeap(join(folder, "session"), events ?? CONVERSATIONS);
      const importMs = timeImport(runs);
      const tokens = await firstRequests();
      return {
        table: {
          columns: ["measure", "value"],
          rows: [
            [`skill load, p95 of ${times.loads} with ${SKILLS} skills`, `${times.loadMs.toFixed(2)} ms`],
            [`analyzeTask, p95 of ${times.matches} with ${SKILLS} skills`, `${times.matchMs.toFixed(2)} ms`],
            [
              "skill texts in the requests of the replayed session",
              `${cache.carried}, ${cache.loaded} loaded for them`,
            ],
            [
              "look-ups in its cache: the model's skill calls",
              `${cache.hits + cache.misses}, ${cache.hits} hits; ${cache.repeats} without auto-trigger`,
            ],
            [
              "all that auto-trigger and the model wanted",
              `${cache.wanted}, ${cache.had} in the conversation already; ${cache.skills} were the first of a skill`,
            ],
            ["heap after the first tenth of the conversations", `${heap.earlyMb.toFixed(1)} MB`],
            [`heap after ${heap.conversations} conversations`, `${heap.lateMb.toFixed(1)} MB`],
            ["import of haversack/agents over ai alone", `${importMs.toFixed(0)} ms`],
            ...tokens.rows,
          ],
        },
        goals: [
          { name: "skill load", value: times.loadMs, limit: 50, side: "at-most", unit: " ms" },
          { name: "analyzeTask", value: times.matchMs, limit: 10, side: "at-most", unit: " ms" },
          {
            name: "cache hits",
            value: (100 * cache.hits) / (cache.hits + cache.misses),
            limit: 80,
            side: "at-least",
            unit: "%",
          },
          { name: "texts loaded twice", value: cache.loaded - cache.skills, limit: 0, side: "at-most", unit: "" },
          { name: "heap growth", value: heap.lateMb - heap.earlyMb, limit: 5, side: "at-most", unit: " MB" },
          { name: "import", value: importMs, limit: 60, side: "at-most", unit: " ms" },
          { name: "tokens against preloading", value: tokens.share, limit: 100, side: "at-most", unit: "%" },
        ],
        notes: tokens.notes,
        data: { times, cache, heap, importMs, tokens },
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Every second skill has keywords and a pattern, as authors write them. */
function timeSkills(folder: string) {
  const skills = syntheticSkills(SKILLS);
  for (const [at, { name, text }] of skills.entries()) {
    const [first = "x", second = "y"] = name.split("-");
    const triggers = `triggers:\n  keywords: ["${first} ${second}", "${second} ${at}"]\n  patterns: ["${first}.*${second}"]\n`;
    put(join(folder, name, "SKILL.md"), at % 2 === 0 ? text.replace("\n---\n\n#", `\n${triggers}---\n\n#`) : text);
    put(join(folder, name, "reference/details.md"), "Details.");
  }
  const registry = new SkillRegistry(folder);
  const trigger = new SkillAutoTrigger(registry);
  const prompts = syntheticPrompts(400);
  for (const prompt of prompts.slice(0, 50)) trigger.analyzeTask(prompt);
  const matches = prompts.map((prompt) => timed(() => trigger.analyzeTask(prompt)));
  const loads = skills.map(({ name }) => timed(() => registry.load(name)));
  return {
    matches: matches.length,
    matchMs: quantile(matches, 0.95),
    loads: loads.length,
    loadMs: quantile(loads, 0.95),
  };
}

interface SessionPrompt {
  prompt: string;
  expected: string[];
}

/**
 * 25 prompts over 30 skills in one conversation. The model asks for every skill that a prompt needs. The cache hits if the conversation
 * had the skill: from auto-trigger in the same turn, or from an earlier turn (`repeats`, all that a cache alone could answer). Also counts
 * what auto-trigger and the model wanted together, the skill texts that the requests carry, and how many of them had to be loaded.
 */
async function replaySession(folder: string) {
  const data = join(import.meta.dirname, "../data/session");
  const skills = JSON.parse(readFileSync(join(data, "skills.json"), "utf8")) as {
    id: string;
    description: string;
    body: string;
  }[];
  const prompts = JSON.parse(readFileSync(join(data, "prompts.json"), "utf8")) as SessionPrompt[];
  for (const { id, description, body } of skills)
    put(
      join(folder, id, "SKILL.md"),
      `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}\n`,
    );
  let carried = 0;
  const system = await systemFor(folder, (body) => {
    carried += skills.filter(({ body: text }) =>
      JSON.stringify(body.messages).includes(JSON.stringify(text).slice(1, -1)),
    ).length;
    const last = body.messages.filter(({ role }) => role === "user").at(-1)?.content;
    const isAnswered = body.messages.at(-1)?.role === "tool";
    const needed = prompts.find(({ prompt }) => prompt === textOf(last))?.expected ?? [];
    return isAnswered || needed.length === 0 ? "Done." : needed.map((name) => ({ name: "skill", arguments: { name } }));
  });
  const wanted: LoadedSkill[] = [];
  for (const { prompt } of prompts)
    wanted.push(...(await system.executor.execute("worker", prompt, { conversationId: "session" })).skills);
  const { hits, misses } = system.cache.stats;
  await system.close();
  const had = wanted.filter(({ cached }) => cached).length;
  const needs = prompts.flatMap(({ expected }) => expected);
  const repeats = needs.length - new Set(needs).size;
  const names = new Set(wanted.map(({ name }) => name));
  const loaded = wanted.length - had;
  return { carried, loaded, wanted: wanted.length, had, skills: names.size, repeats, hits, misses };
}

/** Conversations of one turn that nobody closes. Compares the heap early with the heap at the end. */
async function fillHeap(skills: string, conversations: number) {
  const system = await systemFor(skills, () => "Done.");
  const run = async (from: number, to: number) => {
    for (let at = from; at < to; at += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, more) =>
          system.executor.execute("worker", `Add a database migration for table ${at + more}`, {
            conversationId: `c${at + more}`,
          }),
        ),
      );
    return heapMb();
  };
  const early = Math.floor(conversations / 10);
  const earlyMb = await run(0, early);
  const lateMb = await run(early, conversations);
  await system.close();
  return { conversations, earlyMb, lateMb };
}

function heapMb(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}

/** In separate processes, alternating. */
function timeImport(runs: number): number {
  const names = ["ai", join(ROOT, "packages/haversack/dist/agents.js")];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < runs; round++) {
    for (const name of names) {
      const code = `const cpu = process.cpuUsage(), at = performance.now(); await import(${JSON.stringify(name)}); const { user, system } = process.cpuUsage(cpu); console.log(Math.min(performance.now() - at, (user + system) / 1000))`;
      const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
        cwd: join(ROOT, "packages/haversack"),
        encoding: "utf8",
      });
      if (stdout === "") throw new Error(stderr);
      times.get(name)?.push(Number(stdout));
    }
  }
  const [ai, ours] = names.map((name) => quantile(times.get(name) ?? [], 0.5));
  return ours! - ai!;
}

/** The first messages of ten conversations, four of which need a skill. */
const TASKS: [task: string, skill: string | undefined][] = [
  ["Analyze Danish tender document", "danish-tender-guidelines"],
  ["Give me a complexity estimation with story points for the new citizen portal", "complexity-calculator"],
  ["Do an architecture review of our microservices", "architecture-analyzer"],
  ["Check the tender compliance of our answer to the dansk udbud", "danish-tender-guidelines"],
  ["Summarize this mail thread in three bullets", undefined],
  ["Translate the greeting into German", undefined],
  ["Rename the variable x to total in the script", undefined],
  ["Fix the typo in the second paragraph", undefined],
  ["What is the capital of Portugal?", undefined],
  ["Write a birthday message for a colleague", undefined],
];

/** Counts the body of each request as the provider package sends it. */
async function firstRequests() {
  const skills = join(ROOT, "examples/tender/skills");
  const names = new SkillRegistry(skills).listSkills().map(({ name }) => name);
  const count = await loadCounter();
  const ways = {
    "three skills preloaded": { skills: names, isDynamic: false, isAuto: false },
    "dynamic catalogue": { skills: [], isDynamic: true, isAuto: false },
    "catalogue and auto-trigger": { skills: [], isDynamic: true, isAuto: true },
  };
  const totals: Record<string, number> = {};
  const notes = ["skills: examples/tender"];
  const rows: [string, string][] = [];
  for (const [way, { skills: preloaded, isDynamic, isAuto }] of Object.entries(ways)) {
    let wrong = 0;
    let total = 0;
    for (const [task, needed] of TASKS) {
      let sent = "";
      const system = await systemFor(
        skills,
        (_, text) => {
          sent ||= text;
          return "Done.";
        },
        { skills: preloaded, tools: isDynamic ? ["skill"] : [], isAuto },
      );
      const result = await system.executor.execute("worker", task);
      await system.close();
      total += count(sent);
      const loaded = result.skills.map(({ name }) => name);
      if (isAuto && loaded.join() !== (needed ?? "")) wrong++;
    }
    totals[way] = total;
    rows.push([`tokens of ten first requests, ${way}`, String(total)]);
    if (isAuto)
      notes.push(`auto-trigger: ${TASKS.length - wrong} of ${TASKS.length} tasks got exactly the skill that they need`);
  }
  const share = (100 * totals["catalogue and auto-trigger"]!) / totals["three skills preloaded"]!;
  return { rows, notes, totals, share };
}

interface RequestBody {
  messages: { role: string; content: unknown }[];
}
type Say = string | { name: string; arguments: unknown }[];

/** An agent whose provider sends its requests to a function instead of a server. */
async function systemFor(
  skills: string,
  answer: (body: RequestBody, text: string) => Say,
  { skills: preloaded = [] as string[], tools = ["skill"], isAuto = true } = {},
) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const send: typeof fetch = async (_, init) => {
    const text = String(init?.body);
    const say = answer(JSON.parse(text) as RequestBody, text);
    const message =
      typeof say === "string"
        ? { role: "assistant", content: say }
        : {
            role: "assistant",
            content: null,
            tool_calls: say.map((call, at) => ({
              id: `call_${at}`,
              type: "function",
              function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            })),
          };
    return Response.json({
      id: "1",
      object: "chat.completion",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, finish_reason: typeof say === "string" ? "stop" : "tool_calls", message }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  };
  const provider = createOpenAICompatible({ name: "scripted", baseURL: "http://127.0.0.1:9", fetch: send });
  return new AgentSystemBuilder()
    .withSkillsFrom(skills)
    .withAgent({
      name: "worker",
      instructions: "You are a Technical Analyst who evaluates software.",
      skills: preloaded,
      tools,
    })
    .withModel(provider("scripted"))
    .withConfig({ skills: { refreshMs: 0, autoTrigger: { enabled: isAuto } } })
    .build();
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

/** The smaller of the wall clock and the CPU time, in ms: on a busy machine this process mostly waits. */
function timed(run: () => unknown): number {
  const cpu = process.cpuUsage();
  const start = performance.now();
  run();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return Math.min(wallMs, (user + system) / 1000);
}

function put(file: string, text: string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}
