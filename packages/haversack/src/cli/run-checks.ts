/** Checks before `haversack work` starts a session. Each refusal is one line with a remedy. */
import { spawnSync } from "node:child_process";
import { HaversackError } from "../base/errors.ts";
import { findOnPath, isOlder, versionOf } from "../clients/client-program.ts";
import { STREAMED, type StreamedClient, userCommand } from "../clients/streamed.ts";
import { git, headCommit } from "../engine/artifacts/git-snapshot.ts";
import { whyWaiting } from "../engine/work/next-batch.ts";
import { dirtyFiles } from "../runs/keep-changes.ts";
import type { RunOptions } from "../runs/run-parts.ts";
import { findTests } from "../runs/verify.ts";
import { currentBranch, indexLock } from "../runs/worktrees.ts";
import type { Run, RunScope, RunStore } from "../store/run-store.ts";
import type { Call } from "./command.ts";
import { asSeen, holdingRuns } from "./seen-run.ts";
import type { OpenWork } from "./work.ts";

export function requireClient(
  id: string,
  { io }: Pick<Call, "io">,
  { config }: OpenWork,
): { client: StreamedClient; program: string } {
  if (id === "command") {
    const command = config["headless.command"];
    if (command === "") {
      throw new HaversackError("not-found", "headless.command names no command", {
        hint: "`haversack config set headless.command COMMAND --user`",
      });
    }
    const missing = missingProgram(command, io);
    if (missing !== undefined) {
      throw new HaversackError("not-found", `headless.command names ${missing}, which is not installed here`, {
        hint: "install it, or change headless.command in your own config",
      });
    }
    return { client: userCommand(command), program: "/bin/sh" };
  }
  const client = STREAMED[id];
  if (!client) throw new HaversackError("usage", `there is no client "${id}"`);
  const program = findOnPath(client.program, io.env);
  if (program && client.oldest) {
    const { version, needs } = client.oldest;
    const found = versionOf(program, io.env);
    if (found !== undefined && isOlder(found, version)) {
      throw new HaversackError(
        "refused",
        `${program} is ${client.title} ${found}, but a run needs ${version} or later, for ${needs}`,
        { hint: `update ${client.title}` },
      );
    }
  }
  if (program) return { client, program };
  throw new HaversackError("not-found", `there is no program ${client.program} on the PATH`, {
    hint: `install ${client.title}, or name another client with --client`,
  });
}

/** For `--dry-run`: names the client that a run would start, or the problem. */
export function clientOrNone(
  id: string,
  call: Pick<Call, "io">,
  open: OpenWork,
): { client: StreamedClient; program: string; problem: string | undefined } {
  try {
    return { ...requireClient(id, call, open), problem: undefined };
  } catch (error) {
    if (!(error instanceof HaversackError) || error.code === "usage") throw error;
    const client = STREAMED[id] ?? userCommand(open.config["headless.command"]);
    const hint = error.hint === undefined ? "" : ` (${error.hint})`;
    return { client, program: STREAMED[id]?.program ?? "/bin/sh", problem: `${error.message}${hint}` };
  }
}

/** The program that a shell command begins with, if it is not installed. Checks only plain words. */
function missingProgram(command: string, { env, cwd }: Call["io"]): string | undefined {
  const [, word] = /^\s*([\w./+-]+)(?=\s|$)/.exec(command) ?? [];
  if (word === undefined) return undefined;
  const { status } = spawnSync("/bin/sh", ["-c", 'command -v -- "$0"', word], { cwd, env: { ...env }, timeout: 5_000 });
  return status === 0 || status === null ? undefined : word;
}

/** The root of the repository to work in; with --isolate also the branch to merge into. */
export function requireRepository(
  from: string,
  { isIsolated, mergeInto }: RunOptions,
  { isContinued }: { isContinued: boolean },
): { cwd: string; branch?: string } {
  const cwd = git(from, ["rev-parse", "--show-toplevel"])?.trim();
  if (!cwd && git(from, ["--version"]) === undefined) {
    throw new HaversackError("not-found", "git cannot be started", { hint: "install it, or put it on your PATH" });
  }
  if (!cwd) {
    throw new HaversackError("not-found", "this folder is in no git repository, so changes could not be kept", {
      hint: "`git init` and a first commit make it one",
    });
  }
  if (headCommit(cwd) === undefined) {
    throw new HaversackError("not-found", "the repository has no commit yet", { hint: "make a first commit" });
  }
  if (!isIsolated) return { cwd };
  const branch = currentBranch(cwd);
  if (branch === undefined || branch !== (mergeInto ?? branch)) {
    const why = branch === undefined ? "HEAD is detached" : `${branch} is checked out`;
    throw new HaversackError("refused", `--isolate merges into ${mergeInto ?? "a branch"}, but ${why}`, {
      hint: `\`git switch ${mergeInto ?? "BRANCH"}\` first`,
    });
  }
  // A killed merge may have left these. The continued run handles that.
  if (isContinued) return { cwd, branch };
  const lock = indexLock(cwd);
  if (lock !== undefined) {
    throw new HaversackError("refused", `${lock} is there, so --isolate could not merge`, {
      hint: "wait for the other git process; if none runs, that file was left by one that was killed",
    });
  }
  const dirty = dirtyFiles(cwd);
  if (dirty.length > 0) {
    const more = dirty.length > 1 ? ` and ${dirty.length - 1} more` : "";
    throw new HaversackError(
      "refused",
      `--isolate merges into a clean tree, but ${dirty[0]}${more} ${dirty.length === 1 ? "has" : "have"} uncommitted changes`,
      { hint: "commit or stash them first" },
    );
  }
  return { cwd, branch };
}

export function asScope(scope: RunScope) {
  return scope.kind === "epic" ? { epicId: scope.id } : scope.kind === "story" ? { storyId: scope.id } : {};
}

/** Reports obstacles before any tokens are spent. `done`: nothing is left to do. */
export async function requireReady(
  scope: RunScope,
  { store, by, runs }: OpenWork & { runs: RunStore },
): Promise<"ready" | "done"> {
  const counts = await store.countTasks(asScope(scope), by.at);
  if (counts.ready > 0) return "ready";
  const open = counts.todo + counts.in_progress + counts.review + counts.blocked;
  if (open === 0) {
    const last = await runs.lastRun(scope);
    const seen = last && asSeen(last, by.at);
    const due = seen?.remedy ? await uncheckedOf(seen, runs) : [];
    if (seen?.remedy && due.length > 0) {
      const ids = due.join(", ");
      throw new HaversackError("refused", `run ${seen.id} was interrupted before it had checked ${ids}`, {
        hint: `\`${seen.remedy}\` checks them`,
      });
    }
    if (counts.done > 0) return "done";
    throw new HaversackError("not-found", "there is no task in this scope", {
      hint: "`haversack task create` makes one, `haversack import FILE` many",
    });
  }
  const reasons = await whyWaiting(asScope(scope), { store, by });
  const shown = reasons.length > 0 ? ` (${reasons.join("; ")})` : "";
  const holders = await holdingRuns(await store.listClaims({ at: by.at }), { runs, now: by.at });
  const gone = holders.find(({ remedy }) => remedy !== undefined);
  const held = gone ? `; run ${gone.id} was interrupted and still holds tasks` : "";
  const living = holders[0] && `\`haversack runs follow ${holders[0].id}\` shows the run that is at work`;
  throw new HaversackError(
    "not-found",
    `nothing is ready: ${counts.blocked} blocked, ${counts.in_progress} in progress, ${counts.todo} waiting${shown}${held}`,
    {
      hint: gone
        ? `\`${gone.remedy}\` continues run ${gone.id}`
        : (living ?? "`haversack task show ID` says what a task waits for"),
    },
  );
}

/** Tasks of an interrupted run that no later run has finished. */
async function uncheckedOf({ id, startedAt }: Run, runs: RunStore): Promise<string[]> {
  const since = await runs.tasksSince(startedAt);
  const done = new Set(since.filter(({ state }) => state === "done").map(({ taskId }) => taskId));
  const taken = (await runs.listTasks(id)).filter(({ state }) => state === "claimed");
  return taken.map(({ taskId }) => taskId).filter((taskId) => !done.has(taskId));
}

export function testsOf({ config }: OpenWork, cwd: string): string {
  const command = config["work.test_command"] || findTests(cwd)?.command;
  if (command) return command;
  throw new HaversackError("not-found", "no test command was found, so nobody would check the work", {
    hint: "`haversack config set work.test_command COMMAND --user`, or --no-tests",
  });
}
