/**
 * What is played through, and taken back, before the first prompt comes: what a session does first, each step a few milliseconds long.
 * Measured under Bun 1.3.14 with 300 skills: the first prompt takes about 16 ms without it, and 4 with it.
 */
import type { EventBase } from "../../engine/events/client-event.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import type { HookEngine } from "./hook-engine.ts";

type WarmUpStep = (engine: HookEngine, base: EventBase, handle: StoreHandle) => void;

/** In the words of some skill, so that there is something to show. */
function promptLike(nth: number): WarmUpStep {
  return (engine, base, { db }) => {
    const row = db.prepare(DESCRIPTION).get(nth);
    const prompt = String(row?.["description"] ?? "warm up the index").slice(0, 80 * (nth + 1));
    engine.answer({ ...base, kind: "prompt", prompt, promptId: "" });
  };
}

const DESCRIPTION = "SELECT description FROM skills WHERE active = 1 AND model_invocable = 1 LIMIT 1 OFFSET ?";

/**
 * The most useful first: a headless client (1.18.33) leaves few idle moments before its first prompt. Several prompts, because the
 * runtime compiles better what has run a few times.
 */
export const WARM_UP: readonly WarmUpStep[] = [
  promptLike(3),
  (engine, base) => engine.answer({ ...base, kind: "session-start", source: "startup" }),
  promptLike(2),
  (engine, base) =>
    engine.answer({ ...base, kind: "after-tool", tool: { tool: "write", path: `${base.cwd}/warm-up` } }),
  (engine, base) => engine.answer({ ...base, kind: "prompt", prompt: "warm up the index", promptId: "" }),
  promptLike(1),
  promptLike(0),
];
