/**
 * Rehearses what a session does first, before its first prompt, and rolls it back. Each step takes a few milliseconds. Measured under Bun 1.3.14
 * with 300 skills: the first prompt takes about 16 ms without it and 4 ms with it.
 */
import type { EventBase } from "../../engine/events/client-event.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import type { HookEngine } from "./plugin.ts";

type WarmUpStep = (engine: HookEngine, base: EventBase, handle: StoreHandle) => void;

/** Uses the words of a skill, so there is something to show. */
function promptLike(nth: number): WarmUpStep {
  return (engine, base, { db }) => {
    const row = db.prepare(DESCRIPTION).get(nth);
    const prompt = String(row?.["description"] ?? "warm up the index").slice(0, 80 * (nth + 1));
    engine.answer({ ...base, kind: "prompt", prompt, promptId: "" });
  };
}

const DESCRIPTION = "SELECT description FROM skills WHERE active = 1 AND model_invocable = 1 LIMIT 1 OFFSET ?";

/**
 * Most useful first: a headless client (1.18.33) leaves few idle moments before its first prompt. There are several prompts because the runtime
 * optimizes code that has run a few times.
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

/**
 * Runs an event on the real store, in one transaction that is never committed. Whatever is read, compiled or prepared on first use is then ready
 * for the first prompt.
 *
 * False if somebody else is writing: then nothing was run. `busyMs`: the handle's own lock timeout, restored afterwards.
 */
export function rehearse(
  handle: StoreHandle,
  action: (rehearsed: StoreHandle) => void,
  { busyMs }: { busyMs: number },
): boolean {
  const { db } = handle;
  if (!takeLock(handle, busyMs)) return false;
  try {
    action({ ...handle, db: withoutCommits(db) });
  } finally {
    db.exec("ROLLBACK");
  }
  return true;
}

/** A rehearsal is not urgent, so it does not wait for locks. */
function takeLock({ db }: StoreHandle, busyMs: number): boolean {
  db.exec("PRAGMA busy_timeout = 0");
  try {
    db.exec("BEGIN IMMEDIATE");
    return true;
  } catch {
    // Locked or not writable: the first event that has to write reports which.
    return false;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
  }
}

/** Replaces transactions with savepoints inside the one that is rolled back. */
const INSIDE: Readonly<Record<string, string>> = {
  BEGIN: "SAVEPOINT rehearsal",
  "BEGIN IMMEDIATE": "SAVEPOINT rehearsal",
  COMMIT: "RELEASE rehearsal",
  ROLLBACK: "ROLLBACK TO rehearsal; RELEASE rehearsal",
};

function withoutCommits(db: StoreHandle["db"]): StoreHandle["db"] {
  return {
    prepare: (sql: string) => db.prepare(sql),
    exec: (sql: string) => db.exec(INSIDE[sql] ?? sql),
    close: () => undefined,
  } as StoreHandle["db"];
}

/**
 * Runs work in idle moments, in small steps, so no step blocks the client's event loop for long. The first real event stops it, because further
 * steps would only delay that event.
 */
export interface IdleSteps {
  /** Runs no further steps. */
  stop(): void;
}

/** A step that has begun is finished. */
const SLICE_MS = 10;

export function runWhenIdle(
  steps: readonly (() => void)[],
  { onFault, delayMs = 0 }: { onFault(fault: unknown): void; delayMs?: number },
): IdleSteps {
  const rest = [...steps];
  let cancel = (): void => undefined;
  const plan = () => {
    if (delayMs > 0) {
      // The timer must not keep the client from exiting.
      const timer = setTimeout(next, delayMs).unref();
      cancel = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(next).unref();
      cancel = () => clearImmediate(turn);
    }
  };
  const next = () => {
    const since = performance.now();
    try {
      // During startup a headless client (1.18.33) leaves three or four idle moments, so one step in each would not be enough.
      while (performance.now() - since < SLICE_MS) {
        const step = rest.shift();
        if (!step) return;
        step();
      }
    } catch (fault) {
      // Later steps would hit the same fault.
      onFault(fault);
      return;
    }
    plan();
  };
  plan();
  return {
    stop() {
      rest.length = 0;
      cancel();
    },
  };
}
