/**
 * Compares this build with an older one, interleaved in one run: the same events and commands, each build with a separate project that its
 * own CLI has filled. `HAVERSACK_BASE` names the older commit; it is built in a temporary git worktree.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, type Candidate, quantile, timePairs } from "../harness.ts";
import { indexSyntheticSkills, makeScratch, type Scratch } from "../scratch.ts";
import { hookEvents } from "./hook.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const PAIRS_AT_LEAST = 20;

export const compare: Benchmark = {
  name: "compare",
  summary: "hooks and commands of this build against those of an older one (HAVERSACK_BASE), in pairs",
  async run({ runs }) {
    const commit = process.env["HAVERSACK_BASE"];
    if (!commit) {
      return {
        table: { columns: ["event"], rows: [] },
        notes: ["HAVERSACK_BASE names no commit to compare with: not measured."],
      };
    }
    const base = buildBase(commit);
    const older = makeScratch(base.dist);
    const newer = makeScratch();
    try {
      const [was, is] = [candidates(older), candidates(newer)];
      const pairs = was.map((one, at): [Candidate, Candidate] => [one, is[at] as Candidate]);
      const timed = timePairs(pairs, { runs: Math.max(runs, PAIRS_AT_LEAST) });
      const hooks = timed.filter(({ name }) => !name.startsWith("haversack "));
      return {
        table: {
          columns: ["event", `${commit.slice(0, 8)} ms`, "this build ms", "ratio"],
          rows: timed.map(({ name, oldMs, newMs, ratio }) => [
            name,
            oldMs.toFixed(1),
            newMs.toFixed(1),
            ratio.toFixed(3),
          ]),
        },
        goals: [
          {
            name: "hooks, median of all events, against the older build",
            value: quantile(
              hooks.map(({ ratio }) => ratio),
              0.5,
            ),
            limit: 1.03,
            side: "at-most",
            unit: " x",
          },
        ],
        data: timed,
      };
    } finally {
      older.remove();
      newer.remove();
      base.remove();
    }
  },
};

export function buildBase(commit: string): { dist: string; remove(): void } {
  const folder = join(mkdtempSync(join(tmpdir(), "haversack-base-")), "tree");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: REPOSITORY, stdio: "pipe" });
  git("worktree", "add", "--detach", folder, commit);
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-types"], { cwd: folder, stdio: "pipe" });
  return {
    dist: join(folder, "packages/haversack/dist"),
    remove() {
      rmSync(join(folder, ".."), { recursive: true, force: true });
      git("worktree", "prune");
    },
  };
}

function candidates(scratch: Scratch): Candidate[] {
  const { root, env, bin, hook } = scratch;
  indexSyntheticSkills(scratch, 300);
  const june = { ...env, HAVERSACK_AGENT: "june" };
  const tasks = Array.from(
    { length: 30 },
    (_, at) => `### Task ${at + 1}: Part ${at + 1}\n\n- [ ] Write it\n- [ ] Test it\n`,
  );
  writeFileSync(join(root, "plan.md"), `# Plan\n\n${tasks.join("\n")}`);
  const run = (...words: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [bin, ...words], {
      cwd: root,
      env: { ...process.env, ...june },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`haversack ${words.join(" ")}: ${stderr}`);
  };
  const command = (...words: string[]): Candidate => ({
    name: `haversack ${words.join(" ")}`,
    args: [bin, ...words],
    cwd: root,
    env,
  });
  const events = hookEvents(scratch);
  run("import", "plan", "plan.md");
  run("agent", "add", "june", "--role", "implementer");
  run("claim");
  let session = 0;
  const start = (): Candidate => ({
    name: "session start with a packet",
    args: [hook, "claude-code"],
    stdin: JSON.stringify({
      session_id: `start-${session++}`,
      cwd: root,
      hook_event_name: "SessionStart",
      source: "startup",
    }),
    cwd: root,
    env: june,
  });
  return [
    ...events,
    Object.defineProperty(start(), "stdin", { get: () => start().stdin, enumerable: true }),
    command("--version"),
    command("next"),
    command("status"),
  ];
}
