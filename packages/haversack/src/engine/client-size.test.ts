/**
 * A client that counts bytes (Codex) never gets more than it accepts, in any script. The end of the text, which says what
 * was left out, is always complete.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Match } from "../skills/matching/match-skills.ts";
import { cutFor, profileOf, sizeFor } from "../skills/showing/activation.ts";
import type { SkillCard } from "../skills/types.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteWorkStore } from "../store/sqlite/work/sqlite-work-store.ts";
import { implementing, skill, task, withBulk } from "../wake/wake-scenes.suite.ts";
import { composeAnswer } from "./compose-answer.ts";
import { makePacket } from "./wake/make-packet.ts";
import { deliverMessages } from "./wake/messages.ts";

const CODEX = profileOf("codex");
const NOW = new Date("2026-03-02T09:00:00Z");

/** Words of one to four bytes a letter, up to some 40,000 bytes. */
const words = fc
  .tuple(
    fc.constantFrom("plain ", "größe ", "данные ", "資料庫查詢 ", "🟡🧰 ", "行\n\n## 章\n"),
    fc.integer({ min: 1, max: 4000 }),
  )
  .map(([word, count]) => word.repeat(count));
const texts = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));

describe("in bytes", () => {
  it("a text is cut to at most the size, at a whole character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 0, max: 500 }), (text, most) => {
        const cut = cutFor(CODEX, text, most);
        expect(sizeFor(CODEX, cut)).toBeLessThanOrEqual(most);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(text.isWellFormed() || cut.isWellFormed());
        if (sizeFor(CODEX, text) <= most) expect(cut).toBe(text);
      }),
    );
  });

  it("a packet fits, with its last line", () => {
    fc.assert(
      fc.property(texts, texts, (description, body) => {
        const scene = withBulk(implementing());
        const state = { ...scene, task: task({ ...scene.task, description }), skills: [skill({ body })] };
        const request = { key: {}, reason: "agent-start" as const, client: CODEX };
        const settings = {};
        const { text } = makePacket({ state, problems: [] }, request, {
          root: "/r",
          settings,
          readText: () => undefined,
        });
        expect(text).not.toBe("");
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CODEX.maxChars);
      }),
      { numRuns: 25 },
    );
  });

  it("a skill that comes with a prompt fits, and says where the rest of it is", () => {
    fc.assert(
      fc.property(texts, texts, (body, brief) => {
        const decision = {
          format: "full" as const,
          fresh: [match("listed", brief)],
          known: [],
          names: [],
          verdicts: new Map(),
        };
        const autoLoad = [{ match: match("loaded", "short"), because: "the prompt names it" }];
        const index = { body: () => body, installed: 2, cardsNamed: () => [], names: () => [] };
        const { text, loaded } = composeAnswer({ ...decision, autoLoad }, { client: CODEX, index, isFirst: true });
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CODEX.maxChars);
        expect(text).toMatch(/(?:\(haversack\)|More: `haversack skill search WORDS`)$/);
        const [shown] = loaded;
        expect(
          shown?.text.includes(body.trim()) || shown?.text.endsWith("[cut to fit; the rest: Read /s/loaded.md]"),
        ).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("messages fit, and what was shown whole is not cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 3 }), async (sent) => {
        const handle = openMemoryStore();
        const store = new SqliteWorkStore(handle);
        await store.seeAgent({ name: "june", sessionId: "s1" }, NOW);
        for (const text of sent)
          await store.sendMessage({ to: ["june"], text: text.slice(0, 9_000) }, { name: "b", at: NOW });
        const { maxChars, sizeOf } = CODEX;
        const text = deliverMessages(
          { sessionId: "s1", maxChars, ...(sizeOf && { sizeOf }), isMentionOnly: false, event: "Stop" },
          { handle, now: NOW },
        );
        handle.db.close();
        expect(text).toContain("@june");
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxChars);
      }),
      { numRuns: 25 },
    );
  });
});

function match(id: string, brief: string): Match {
  const card: SkillCard = {
    key: 1,
    id,
    name: id,
    description: brief,
    brief,
    path: `/s/${id}.md`,
    hash: id,
    sourceKind: "project",
    sourceLabel: ".agents/skills",
    modelInvocable: true,
    requires: [],
  };
  return {
    card,
    confidence: 1,
    named: true,
    reasons: [],
    parts: { keyword: 0, synonym: 0, intent: 0, file: 0, context: 0, score: 0 },
  };
}
