import { describe, expect, it } from "vitest";
import { SkillCache } from "./skill-cache.ts";
import { type Skill, SkillRegistry } from "./skill-registry.ts";

const registry = new SkillRegistry();
const skill = (name: string): Skill => registry.add(name, `---\nname: ${name}\ndescription: About ${name}\n---\nText.`);
const tender = skill("tender");

describe("SkillCache", () => {
  it("caches a skill for a conversation and returns it", () => {
    const cache = new SkillCache({ now: () => 5_000 });
    cache.set("a", "tender", tender);
    expect(cache.get("a", "tender")).toEqual({ skill: tender, loadedAt: new Date(5_000) });
  });

  it("does not return what is older than an hour", () => {
    let now = 0;
    const cache = new SkillCache({ now: () => now });
    cache.set("a", "tender", tender);
    now = 3_600_000;
    expect(cache.get("a", "tender")).toBeDefined();
    now++;
    expect(cache.size()).toBe(0);
    expect(cache.get("a", "tender")).toBeUndefined();
  });

  it("isolates conversations, also those whose names contain each other", () => {
    const cache = new SkillCache();
    cache.set("a", "b:tender", tender);
    cache.set("a:b", "other", tender);
    expect(cache.get("a:b", "tender")).toBeUndefined();
    expect(cache.get("b", "b:tender")).toBeUndefined();
    expect(cache.size("a")).toBe(1);
  });

  it("clears one conversation, or all", () => {
    const cache = new SkillCache();
    cache.set("a", "tender", tender);
    cache.set("ab", "tender", tender);
    cache.set("c", "tender", tender);
    cache.clear("a");
    expect([cache.size(), cache.size("a"), cache.size("ab")]).toEqual([2, 0, 1]);
    cache.clear();
    expect(cache.size()).toBe(0);
  });

  it("keeps at most 100 skills of a conversation and drops the one used longest ago", () => {
    const cache = new SkillCache();
    for (let at = 0; at < 100; at++) cache.set("a", `s${at}`, tender);
    cache.get("a", "s0");
    cache.set("a", "s100", tender);
    expect(cache.size()).toBe(100);
    expect(cache.get("a", "s0")).toBeDefined();
    expect(cache.get("a", "s1")).toBeUndefined();
  });

  it("keeps at most so many conversations and drops the one used longest ago", () => {
    const cache = new SkillCache({ maxConversations: 3 });
    for (const id of ["a", "b", "c"]) cache.set(id, "tender", tender);
    cache.get("a", "tender");
    cache.set("d", "tender", tender);
    expect(["a", "b", "c", "d"].filter((id) => cache.get(id, "tender"))).toEqual(["a", "c", "d"]);
  });

  it("does not grow with conversations that nobody closes", () => {
    let now = 0;
    const cache = new SkillCache({ now: () => now });
    for (let at = 0; at < 10_000; at++) {
      now += 10_000;
      cache.set(`conversation-${at}`, "tender", tender);
    }
    expect(cache.size()).toBeLessThanOrEqual(361);
  });

  it("counts hits and misses", () => {
    const cache = new SkillCache();
    cache.get("a", "tender");
    cache.set("a", "tender", tender);
    cache.get("a", "tender");
    expect(cache.stats).toEqual({ hits: 1, misses: 1 });
  });
});
