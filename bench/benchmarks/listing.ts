/**
 * The cost of skills in requests of the real Claude Code: listed by the client itself, compared with deferred by Haversack. Counts the
 * exact tokens of the first and the tenth request of a session of ten prompts, and for how many of the five prompts that fit a skill
 * the model saw its description. Uses the client of the client tests (installed from its lock file if missing) and our model server.
 */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFrontmatter } from "../../packages/haversack/src/base/frontmatter.ts";
import { briefOfSkill } from "../../packages/haversack/src/skills/short-description.ts";
import { firstWords } from "../../packages/haversack/src/skills/showing/disclosure.ts";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import { haversack } from "../../test/clients/claude-code/haversack-repo.ts";
import install from "../../test/clients/claude-code/install.ts";
import { runClaude } from "../../test/clients/claude-code/run-claude.ts";
import { makeScratchRepo, type ScratchRepo } from "../../test/clients/claude-code/scratch-repo.ts";
import type { ModelRequest } from "../../test/clients/model-request.ts";
import { textOf } from "../../test/clients/request-text.ts";
import { startScriptedServer } from "../../test/clients/scripted-server.ts";
import type { Benchmark } from "../harness.ts";

/** A prompt that fits a skill, then one that needs none. */
const PROMPTS: { text: string; skill?: string }[] = [
  {
    text: "Open our local web app in a browser, log in through the form and take a screenshot of the dashboard.",
    skill: "anthropic/webapp-testing",
  },
  { text: "yes, do that" },
  {
    text: "The API server opens far too many MongoDB connections under load. Tune the client's pool and its timeouts.",
    skill: "mongodb/mongodb-connection",
  },
  { text: "Rename the variable total to sum in this function." },
  {
    text: "Move the cart of this React app into a Zustand store and persist it across reloads.",
    skill: "alicoder/zustand",
  },
  { text: "what did you just change?" },
  {
    text: "Which render mode should our Blazor page use so that it does not load its data twice after prerendering?",
    skill: "dotnet-artisan/dotnet-blazor-patterns",
  },
  { text: "commit this" },
  {
    text: "Build an MCP server in TypeScript that offers our ticket API to language models as tools.",
    skill: "anthropic/mcp-builder",
  },
  { text: "thanks, that is all for now" },
];

const SIZES = [60, 276];

interface Skill {
  /** `source/folder` in the corpus. */
  place: string;
  folder: string;
}

type Way = "none" | "native" | "wired" | "deferred";

export const listing: Benchmark = {
  name: "listing",
  summary:
    "real Claude Code: tokens of the first and the tenth request, and the right description in front of the model",
  async run({ corpus }) {
    if (!corpus) {
      return {
        table: { columns: ["skills"], rows: [] },
        notes: ["HAVERSACK_CORPUS is not set: this benchmark copies public skills from that folder and was not run."],
      };
    }
    install();
    const source = join(corpus, "skill-triggers/skills");
    const count = await loadCounter();
    const bare = (await tenPrompts("none", source, [])).map(textOf);
    // Skip skills that replace a bundled skill of the same name: that would save the bundled skill's tokens too.
    const pool = findSkills(source).filter(({ folder }) => !bare[0]?.includes(`\n- ${folder}: `));
    const largest = SIZES.at(-1) ?? 0;
    if (pool.length < largest) throw new Error(`${source} has ${pool.length} skills to copy, not ${largest}`);
    const openings = new Map(pool.map(({ place }) => [place, opening(source, place)]));

    const measure = (size: number, way: Way, texts: readonly string[]) => {
      const plain = texts.map(oneLine);
      const holds = (at: number, place: string) =>
        openings.get(place)?.some((opening) => plain[at]?.includes(opening)) === true;
      return {
        size,
        way,
        first: count(texts[0] ?? ""),
        tenth: count(texts[9] ?? ""),
        listed: pool.slice(0, size).filter(({ place }) => holds(0, place)).length,
        inFront: PROMPTS.filter(({ skill }, at) => skill && holds(at, skill)).length,
      };
    };
    const rows = [measure(0, "none", bare)];
    for (const size of SIZES) {
      for (const way of ["native", "wired", "deferred"] as const) {
        rows.push(measure(size, way, (await tenPrompts(way, source, pool.slice(0, size))).map(textOf)));
      }
    }
    const none = rows[0]!;
    const fitting = PROMPTS.filter(({ skill }) => skill).length;
    const last = rows.at(-1)!;
    return {
      table: {
        columns: [
          "skills",
          "first request",
          "more",
          "tenth request",
          "more",
          "descriptions at first",
          "right one in front",
        ],
        rows: rows.map(({ size, way, first, tenth, listed, inFront }) => [
          way === "none" ? "none, without Haversack" : `${size}, ${LABELS[way]}`,
          first,
          first - none.first,
          tenth,
          tenth - none.tenth,
          listed,
          way === "none" ? "–" : `${inFront} of ${fitting}`,
        ]),
      },
      goals: [
        {
          name: `${last.size} deferred skills, first request, our injection included`,
          value: last.first - none.first,
          limit: 400,
          side: "at-most",
          unit: " tokens",
        },
        {
          name: `${last.size} deferred skills, prompts with the right description in front`,
          value: last.inFront,
          limit: fitting,
          side: "at-least",
        },
      ],
      notes: [
        "Exact o200k tokens of tools, system prompt and messages; more: than without skills and without Haversack.",
        "The client gives room to descriptions in the order of the alphabet; the five skills stand late in it.",
      ],
      data: rows,
    };
  },
};

const LABELS = {
  native: "listed, without Haversack",
  wired: "listed, with Haversack",
  deferred: "deferred, with Haversack",
};

/** The requests of one session with ten prompts. */
async function tenPrompts(way: Way, source: string, skills: readonly Skill[]): Promise<ModelRequest[]> {
  const repo: ScratchRepo = makeScratchRepo();
  const server = await startScriptedServer();
  try {
    for (const { place, folder } of skills) {
      cpSync(join(source, place), join(repo.root, ".claude/skills", folder), { recursive: true });
    }
    if (way === "wired" || way === "deferred") haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
    if (way === "deferred") haversack(repo, "skill", "defer", "--all");
    const { exitCode, stderr } = await runClaude({
      repo,
      server,
      prompt: PROMPTS.map(({ text }) => text),
      timeLimitMs: 120_000,
    });
    const requests = server.of("main");
    if (exitCode !== 0 || requests.length !== PROMPTS.length) {
      throw new Error(`${way}: exit ${exitCode}, ${requests.length} requests for ${PROMPTS.length} prompts\n${stderr}`);
    }
    return requests;
  } finally {
    await server.close();
    repo.remove();
  }
}

/** The skills that the prompts need first, then the others. If folders share a name, the first is used. */
function findSkills(source: string): Skill[] {
  const wanted = PROMPTS.flatMap(({ skill }) => skill ?? []);
  const all = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("/SKILL.md"))
    .map((path) => path.slice(0, -"/SKILL.md".length))
    .sort();
  const skills = [...wanted, ...spread(all.filter((place) => !wanted.includes(place)))].map((place) => ({
    place,
    folder: place.slice(place.lastIndexOf("/") + 1),
  }));
  return [...new Map(skills.toReversed().map((skill) => [skill.folder, skill])).values()].toReversed();
}

/** An order in which the first items cover every source. */
function spread(places: readonly string[]): string[] {
  const step = 7;
  return Array.from({ length: step }, (_, first) => places.filter((_, at) => at % step === first)).flat();
}

/** How it begins in the client's listing, and in our brief, which leaves out lead-ins such as "Use this skill when". */
function opening(source: string, place: string): string[] {
  const { data } = readFrontmatter(readFileSync(join(source, place, "SKILL.md"), "utf8"));
  const description = String(data["description"]);
  const name = place.slice(place.lastIndexOf("/") + 1);
  const brief = firstWords(briefOfSkill({ description }), 4);
  return [oneLine(description).slice(0, 40), `## ${name} Brief: ${brief}`, `${name}: ${brief}`];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
