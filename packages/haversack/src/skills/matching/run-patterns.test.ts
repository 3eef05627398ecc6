import { describe, expect, it } from "vitest";
import { matchEach, type PatternHost, runPatterns } from "./run-patterns.ts";

const pattern = (source: string, { linear = true, flags = "i" } = {}) => ({ source, flags, linear });

describe("runPatterns", () => {
  it("says which patterns matched any of the texts", () => {
    const run = runPatterns(
      [pattern("deploy.*prod"), pattern("\\bdebug\\b"), pattern("b+")],
      ["Deploy it to prod", "bbb"],
    );
    expect(run).toEqual({ hits: [0, 2], slow: [], skipped: [] });
  });

  it("stops a pattern that never ends, names it, and runs the others", () => {
    const patterns = [pattern("^a"), pattern("(a+)+$", { linear: false }), pattern("a{3}")];
    // More time than in production: on a busy machine, a pattern must actually run before it is reported as slow.
    const run = runPatterns(patterns, [`${"a".repeat(50_000)}b`], { budgetMs: 200 });
    expect(run.slow).toEqual([1]);
    expect(run.hits).toEqual([0, 2]);
  });

  it("leaves the rest out when many offenders use up the budget", () => {
    const patterns = Array.from({ length: 40 }, () => pattern("(a+)+$", { linear: false }));
    const { slow, skipped, hits } = runPatterns([...patterns, pattern("a")], [`${"a".repeat(40)}b`], { budgetMs: 100 });
    expect(slow.length).toBeGreaterThan(0);
    expect(skipped.length).toBe(41 - slow.length);
    expect(hits).toEqual([]);
  });

  it("runs only patterns proven linear where they cannot be stopped", () => {
    const run = runPatterns([pattern("a+"), pattern("(a+)+$", { linear: false })], ["aaab"], { canStop: false });
    expect(run).toEqual({ hits: [0], slow: [], skipped: [1] });
  });

  it("treats a pattern that does not compile as one that matches nothing", () => {
    expect(runPatterns([pattern("("), pattern("a")], ["a"]).hits).toEqual([1]);
  });

  it("blames no pattern for the time that those before it took, and none that is proven linear", () => {
    const many = Array.from({ length: 3000 }, (_, n) => pattern(`word${n}x?y?z?`, { linear: false }));
    expect(runPatterns(many, ["some text"], { budgetMs: 20 }).slow).toEqual([]);
    const run = runPatterns([pattern("(a+)+$")], [`${"a".repeat(40)}b`], { budgetMs: 20 });
    expect(run.slow).toEqual([]);
    expect(run.skipped).toEqual([0]);
  });

  describe("on a busy machine", () => {
    /** A host whose clock moves only by time-outs. The first ones stop the patterns before or after they ran. */
    function busyHost(timeouts: ("before" | "after")[]): PatternHost & { waitedMs: number } {
      const left = [...timeouts];
      const host = {
        waitedMs: 0,
        cpuMs: () => 0,
        nowMs: () => host.waitedMs,
        runFor(run: () => void, timeoutMs: number) {
          const timeout = left.shift();
          if (timeout !== "before") run();
          if (timeout) host.waitedMs += timeoutMs;
          return timeout === undefined;
        },
      };
      return host;
    }
    const patterns = [pattern("deploy"), pattern("(a|b)*c", { linear: false }), pattern("prod")];

    it("keeps every answer when the time-out fires after the last pattern", () => {
      const run = runPatterns(patterns, ["deploy abc to prod"], { host: busyHost(["after"]) });
      expect(run).toEqual({ hits: [0, 1, 2], slow: [], skipped: [] });
    });

    it("tries a pattern again that was stopped without CPU time, with more time each try", () => {
      const host = busyHost(["before", "before", "before", "before"]);
      const run = runPatterns(patterns, ["deploy abc to prod"], { host });
      expect(run).toEqual({ hits: [0, 1, 2], slow: [], skipped: [] });
      expect(host.waitedMs).toBe(25 + 50 + 100 + 200);
    });

    it("blames no pattern and ends when it never gets to run", () => {
      const host = busyHost(Array.from({ length: 100 }, () => "before" as const));
      const run = runPatterns(patterns, ["deploy abc to prod"], { host });
      expect(run).toEqual({ hits: [], slow: [], skipped: [0, 1, 2] });
      expect(host.waitedMs).toBe(1000);
    });
  });

  it("says which text each pattern matched", () => {
    const { pairs } = matchEach([pattern("a"), pattern("b")], ["ab", "b", "a"]);
    expect(pairs).toEqual([
      [0, 0],
      [0, 2],
      [1, 0],
      [1, 1],
    ]);
  });

  it("leaves no global behind", () => {
    runPatterns([pattern("a")], ["a"]);
    expect(Object.keys(globalThis).filter((key) => key.includes("haversack"))).toEqual([]);
  });
});
