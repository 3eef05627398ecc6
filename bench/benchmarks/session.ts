/**
 * A session of 25 prompts over 30 skills: several topics, repeats, an explicit request, an idle night, one compaction. Counts
 * exactly what the model receives with every description at every prompt, with the client's native listing once per window, and with
 * ours. Also counts for how many of the prompts that need a skill the model saw it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../packages/haversack/src/base/config.ts";
import { discover } from "../../packages/haversack/src/engine/discover.ts";
import { discoverSettings } from "../../packages/haversack/src/engine/project.ts";
import { backgroundTerms } from "../../packages/haversack/src/skills/matching/background.ts";
import { skillTerms } from "../../packages/haversack/src/skills/matching/skill-terms.ts";
import { PROFILES } from "../../packages/haversack/src/skills/showing/activation.ts";
import { briefOf } from "../../packages/haversack/src/skills/showing/disclosure.ts";
import { openMemoryStore } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteLocalStore } from "../../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { SkillIndexWriter } from "../../packages/haversack/src/store/sqlite/skills/skill-index-writer.ts";
import { SkillLedger } from "../../packages/haversack/src/store/sqlite/skills/skill-ledger.ts";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import type { Benchmark } from "../harness.ts";

export interface SessionSkill {
  id: string;
  domain: string;
  description: string;
  body: string;
}

export interface SessionPrompt {
  prompt: string;
  expected: string[];
  idleMinutesBefore?: number;
  compactionBefore?: boolean;
}

const DATA = join(import.meta.dirname, "../data/session");

export function readSession(name: "skills" | "prompts" | "later-prompts"): unknown {
  return JSON.parse(readFileSync(join(DATA, `${name}.json`), "utf8"));
}

const SESSION = { sessionId: "bench", agentId: "" };

export const session: Benchmark = {
  name: "session",
  summary: "25 prompts, 30 skills: tokens that the model receives, and whether the right skill is in front of it",
  async run() {
    const skills = readSession("skills") as SessionSkill[];
    const prompts = readSession("prompts") as SessionPrompt[];
    const count = await loadCounter();
    const listing = skills.map(({ id, description }) => `- ${id}: ${description}`).join("\n");
    const windows = 1 + prompts.filter(({ compactionBefore }) => compactionBefore).length;
    const ours = replay(skills, prompts, count);
    const needing = prompts.filter(({ expected }) => expected.length > 0).length;
    const everyPrompt = count(listing) * prompts.length;
    const share = (100 * ours.tokens) / everyPrompt;
    return {
      table: {
        columns: ["way", "tokens", "of the first", "right skill in front"],
        rows: [
          ["all descriptions at every prompt", everyPrompt, "100%", `${needing} of ${needing}`],
          [
            `native listing, once in each of ${windows} windows`,
            count(listing) * windows,
            `${((100 * count(listing) * windows) / everyPrompt).toFixed(1)}%`,
            `${needing} of ${needing}`,
          ],
          ["Haversack", ours.tokens, `${share.toFixed(1)}%`, `${ours.inFront} of ${needing}`],
        ],
      },
      goals: [
        { name: "tokens, share of listing all at every prompt", value: share, limit: 6, side: "at-most", unit: "%" },
        { name: "prompts with the right skill in front", value: ours.inFront, limit: needing, side: "at-least" },
      ],
      notes: [
        `answers: ${Object.entries(ours.formats)
          .map(([format, times]) => `${times} ${format}`)
          .join(", ")}; something shown at ${ours.needless} of ${prompts.length - needing} prompts that need nothing`,
        "Text that was injected stays in the window and is paid again, cached, in later requests; so is the listing of the other two ways.",
        ...ours.misses.map((prompt) => `missed: ${prompt}`),
      ],
      data: ours,
    };
  },
};

export function replay(
  skills: readonly SessionSkill[],
  prompts: readonly SessionPrompt[],
  count: (text: string) => number,
) {
  const handle = openMemoryStore();
  const writer = new SkillIndexWriter(handle.db);
  writer.putBackground(backgroundTerms());
  for (const { id, description, domain, body } of skills) {
    const key = writer.put({
      id,
      description,
      domain,
      name: id,
      path: `/skills/${id}/SKILL.md`,
      size: 0,
      mtimeMs: 0,
      rank: 0,
      hash: id,
      body,
      brief: briefOf(description),
      sourceKind: "project",
      sourceLabel: ".claude/skills",
      modelInvocable: true,
      requires: [],
      problems: [],
      terms: skillTerms({ name: id, description, body, tags: [] }),
    });
    writer.activate(key);
  }
  writer.flush();
  const index = new SqliteSkillIndex(handle.db);
  const ledger = new SkillLedger(handle);
  const sessions = new SqliteLocalStore(handle);
  const settings = discoverSettings(readConfig([]).config);
  const client = PROFILES["claude-code"]!;

  let at = new Date("2026-03-02T09:00:00Z");
  let window = new Set<string>();
  const formats: Record<string, number> = {};
  const result = {
    ...{ tokens: 0, inFront: 0, needless: 0, formats },
    misses: [] as string[],
    /** What each prompt added. */
    added: [] as number[],
  };
  for (const { prompt, expected, idleMinutesBefore = 2, compactionBefore } of prompts) {
    at = new Date(at.getTime() + idleMinutesBefore * 60_000);
    if (compactionBefore) {
      sessions.touchSession({ ...SESSION, client: client.name, cwd: "/", at, event: "window" });
      window = new Set();
    }
    const found = discover({ ...SESSION, client, cwd: "/", prompt, at }, { index, ledger, settings });
    formats[found.format] = (formats[found.format] ?? 0) + 1;
    const added = count(found.text);
    result.added.push(added);
    result.tokens += added;
    for (const { id, disclosure } of found.skills) if (disclosure === "full" || disclosure === "body") window.add(id);
    if (expected.length === 0) result.needless += found.text === "" ? 0 : 1;
    else if (expected.some((id) => window.has(id))) result.inFront++;
    else result.misses.push(prompt);
  }
  return result;
}
