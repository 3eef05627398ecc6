/** Stores that may not or cannot be used: switched off, not accepted, locked, read-only, damaged, missing. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canBeRefused, makeReadOnly } from "../read-only.ts";
import type { OtherStep, Scenario, Step } from "../scenario.ts";
import { byHand, inShell, OTHER_PROMPT, PDF_PROMPT, TASK, withTask } from "./seeds.ts";
import type { More, Voice } from "./voices.ts";

const HOLD = join(import.meta.dirname, "../../store-workers/hold-lock.mjs");
const OTHER = "11111111-1111-4000-8000-000000000009";

export function badStores(voice: Voice): Scenario[] {
  const { start, prompt } = voice;
  const session = (more: More = {}) => someOfEach(voice, more);
  const scenarios: Scenario[] = [
    {
      name: "switched-off",
      about: "Haversack is off: for the project, for the user, for one process; and on again",
      seed: (project) => withTask(voice, project),
      steps: [
        byHand("off"),
        ...session(),
        byHand("on"),
        prompt(PDF_PROMPT),
        byHand("off", "--user"),
        ...session(),
        byHand("on", "--user"),
        prompt(PDF_PROMPT),
        ...(voice.client === "opencode" ? [] : session({ env: { HAVERSACK: "0" } })),
      ],
    },
    {
      name: "not-accepted",
      about: "the store came with the repository: nothing is said to the model and nothing is written",
      async seed(project) {
        await withTask(voice, project);
        rmSync(join(project.home, ".local/state/haversack"), { recursive: true });
      },
      steps: session(),
    },
    {
      name: "no-store",
      about: "a state folder without a store",
      seed: (project) => mkdirSync(join(project.root, ".haversack")) as undefined,
      steps: session(),
    },
    {
      name: "no-project",
      about: "a folder that does not use Haversack",
      seed: () => undefined,
      steps: session(),
    },
    {
      name: "damaged-store",
      about: "the store is no database any more",
      async seed(project) {
        await withTask(voice, project);
        for (const end of ["-wal", "-shm"])
          rmSync(join(project.root, `.haversack/haversack.db${end}`), { force: true });
        writeFileSync(join(project.root, ".haversack/haversack.db"), "no database ".repeat(1_000));
      },
      steps: session(),
    },
    {
      name: "locked-for-writing",
      about:
        "another process writes for long: events are answered and wait in the spool, and the next one reads them in",
      seed: (project) => withTask(voice, project),
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        inShell(voice, ["claim", TASK]),
        ...locked("write", session()),
        prompt(PDF_PROMPT),
      ],
    },
  ];
  // opencode's plugin keeps the store open: nobody can keep it from reading.
  if (voice.client === "opencode") return scenarios;
  scenarios.push({
    name: "locked-for-all",
    about: "another process lets nobody read: prompts are silent, and no event is lost",
    seed: (project) => withTask(voice, project),
    steps: [
      ...start("startup"),
      prompt(PDF_PROMPT),
      inShell(voice, ["claim", TASK]),
      ...locked("all", session()),
      prompt(PDF_PROMPT),
    ],
  });
  if (canBeRefused) {
    scenarios.push({
      name: "read-only",
      about: "whoever answers may only read the store",
      async seed(project) {
        await withTask(voice, project);
        makeReadOnly(project);
      },
      steps: [...session({ isReader: true }), ...start("startup", { session: OTHER, isReader: true })],
    });
  }
  return scenarios;
}

/** A session with one event of each kind. */
function someOfEach(voice: Voice, more: More): Step[] {
  return [
    ...voice.start("startup", more),
    voice.prompt(PDF_PROMPT, more),
    voice.beforeEdit("src/form.ts", more),
    voice.afterEdit("src/form.ts", more),
    voice.shell("npx vitest run", " Tests  3 passed (3)\n", 0, more),
    ...voice.stop(more),
    ...voice.end(more),
  ];
}

function locked(what: "write" | "all", steps: readonly Step[]): Step[] {
  let holder: ChildProcess | undefined;
  const take: OtherStep = {
    meanwhile: what === "write" ? "another process begins to write" : "another process lets nobody read",
    async do(project, driver) {
      // A server that has the store open would keep the other process from its lock.
      if (what === "all") await driver.end();
      const store = join(project.root, ".haversack/haversack.db");
      const child = spawn(process.execPath, [HOLD, store, what], { stdio: ["pipe", "pipe", "inherit"] });
      holder = child;
      project.onEnd(() => child.kill("SIGKILL"));
      await new Promise<void>((resolve, reject) => {
        child.stdout.once("data", () => resolve());
        child.once("close", () => reject(new Error("the other process did not get the lock")));
      });
    },
  };
  const release: OtherStep = {
    meanwhile: "the other process is done",
    do: () =>
      new Promise<void>((resolve) => {
        holder?.once("close", () => resolve());
        holder?.stdin?.end();
      }),
  };
  return [take, ...steps, release];
}
