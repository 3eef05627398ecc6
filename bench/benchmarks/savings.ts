/**
 * What finding skills costs over whole sessions, with the client's own listing and with Haversack: tokens paid in full, and tokens that later
 * requests read from the cache. Two made-up sessions of 25 and 50 prompts go through the engine; the first one also through the real Claude Code
 * and our model server, where both kinds are counted in the requests that arrived.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeListing } from "../../packages/haversack/src/clients/skill-listings.ts";
import { loadCounter, type TokenCounter } from "../../packages/haversack/src/tokens/count.ts";
import { haversack } from "../../test/clients/claude-code/haversack-repo.ts";
import install, { pinnedVersion } from "../../test/clients/claude-code/install.ts";
import { runClaude } from "../../test/clients/claude-code/run-claude.ts";
import { makeScratchRepo } from "../../test/clients/claude-code/scratch-repo.ts";
import { textOf } from "../../test/clients/request-text.ts";
import { startScriptedServer } from "../../test/clients/scripted-server.ts";
import type { Benchmark } from "../harness.ts";
import { readSession, replay, type SessionPrompt, type SessionSkill } from "./session.ts";

interface Cost {
  full: number;
  cached: number;
}

interface Row {
  session: string;
  native: Cost;
  ours: Cost;
}

export const savings: Benchmark = {
  name: "savings",
  summary:
    "what finding skills costs in sessions of 25 and 50 prompts and in real Claude Code, in full and from the cache",
  async run() {
    install();
    const count = await loadCounter();
    const skills = readSession("skills") as SessionSkill[];
    const first = readSession("prompts") as SessionPrompt[];
    const all = [...first, ...(readSession("later-prompts") as SessionPrompt[])];
    const real = await inClaude(skills, first, count);
    const rows: Row[] = [
      inEngine(skills, first, count),
      inEngine(skills, all, count),
      { session: `Claude Code ${pinnedVersion()}, ${first.length} prompts, 1 window`, ...real },
    ];
    const less = (native: number, ours: number) => `${Math.round(100 * (1 - ours / native))}%`;
    return {
      table: {
        columns: [
          "session",
          "listing, in full",
          "from cache",
          "Haversack, in full",
          "from cache",
          "less in full",
          "less from cache",
        ],
        rows: rows.map(({ session, native, ours }) => [
          session,
          ...[native.full, native.cached, ours.full, ours.cached],
          ...[less(native.full, ours.full), less(native.cached, ours.cached)],
        ]),
      },
      notes: [
        `${skills.length} skills. In full: new in a request. From cache: sent again by later requests of the window, one request per prompt.`,
        "Claude Code: tokens beyond those of the same session without skills and without Haversack; the skills are deferred. Its listing is of its own form.",
      ],
      data: rows,
    };
  },
};

/** Every text is new once, and read from the cache by every later prompt of its window. */
function inEngine(skills: readonly SessionSkill[], prompts: readonly SessionPrompt[], count: TokenCounter): Row {
  const cards = skills.map(({ id, description }) => ({ name: id, description, path: `/skills/${id}/SKILL.md` }));
  const listing = count(nativeListing("claude-code", cards));
  const { added } = replay(skills, prompts, count);
  const [native, ours]: [Cost, Cost] = [
    { full: 0, cached: 0 },
    { full: 0, cached: 0 },
  ];
  let inWindow = 0;
  let windows = 1;
  prompts.forEach(({ compactionBefore }, at) => {
    if (compactionBefore) {
      inWindow = 0;
      windows++;
    }
    const isFirst = at === 0 || compactionBefore === true;
    native.full += isFirst ? listing : 0;
    native.cached += isFirst ? 0 : listing;
    ours.cached += inWindow;
    ours.full += added[at] ?? 0;
    inWindow += added[at] ?? 0;
  });
  return { session: `engine, ${prompts.length} prompts, ${windows} windows`, native, ours };
}

async function inClaude(skills: readonly SessionSkill[], prompts: readonly SessionPrompt[], count: TokenCounter) {
  const bare = await claudeSession("bare", skills, prompts, count);
  const beyond = ({ full, cached }: Cost): Cost => ({ full: full - bare.full, cached: cached - bare.cached });
  return {
    native: beyond(await claudeSession("native", skills, prompts, count)),
    ours: beyond(await claudeSession("deferred", skills, prompts, count)),
  };
}

async function claudeSession(
  way: "bare" | "native" | "deferred",
  skills: readonly SessionSkill[],
  prompts: readonly SessionPrompt[],
  count: TokenCounter,
): Promise<Cost> {
  const repo = makeScratchRepo();
  const server = await startScriptedServer();
  try {
    for (const { id, description, body } of way === "bare" ? [] : skills) {
      const folder = join(repo.root, ".claude/skills", id);
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, "SKILL.md"),
        `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}\n`,
      );
    }
    if (way === "deferred") {
      haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
      haversack(repo, "skill", "defer", "--all");
    }
    const prompt = prompts.map((one) => one.prompt);
    const { exitCode, stderr } = await runClaude({ repo, server, prompt, timeLimitMs: 180_000 });
    const requests = server.of("main").map(textOf);
    if (exitCode !== 0 || requests.length !== prompt.length)
      throw new Error(`${way}: exit ${exitCode}, ${requests.length} requests for ${prompt.length} prompts\n${stderr}`);
    return costOf(requests, count);
  } finally {
    await server.close();
    repo.remove();
  }
}

/** The part that a request has in common with the beginning of the previous one comes from the cache. */
function costOf(requests: readonly string[], count: TokenCounter): Cost {
  const cost: Cost = { full: 0, cached: 0 };
  requests.forEach((text, at) => {
    const shared = text.slice(0, sharedLength(requests[at - 1] ?? "", text));
    cost.cached += count(shared);
    cost.full += count(text.slice(shared.length));
  });
  return cost;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
