/**
 * Pushes what a run has committed, as the user's own config says. Never forced: if the remote branch has other commits, the push is refused
 * and said, and the work stays here.
 */
import { spawn } from "node:child_process";
import { git, headCommit } from "../engine/artifacts/git-snapshot.ts";

export interface PushRequest {
  cwd: string;
  /** The name of a remote of this repository. */
  remote: string;
  /** The branch there. `{branch}`, `{machine}` and `{run}` are replaced. */
  name: string;
  machine: string;
  runId: string;
  env: Readonly<Record<string, string>>;
}

export type Pushed = { kind: "pushed"; to: string } | { kind: "unchanged" } | { kind: "refused"; why: string };

const PUSH_MS = 120_000;

export class WorkPusher {
  readonly #request: PushRequest;
  /** What was pushed last, or could not be: each commit is tried once. */
  readonly #tried = new Map<string, string>();

  constructor(request: PushRequest) {
    this.#request = request;
  }

  /** The branch that is checked out, and the one that keeps uncommitted changes, if there is one. */
  async push(): Promise<Pushed[]> {
    const { cwd, remote, runId } = this.#request;
    // Not an address: a project's config could name one and send the code there.
    if (!(git(cwd, ["remote"]) ?? "").split("\n").includes(remote))
      return [this.#once("remote", { kind: "refused", why: `there is no remote ${remote}` })];
    const kept = `refs/heads/haversack/run-${runId}`;
    const tip = git(cwd, ["rev-parse", "--verify", "--quiet", kept])?.trim();
    return [
      await this.#pushOne(headCommit(cwd), this.#name()),
      ...(tip ? [await this.#pushOne(tip, kept.slice("refs/heads/".length))] : []),
    ];
  }

  #name(): string {
    const { cwd, name, machine, runId } = this.#request;
    const branch = git(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])?.trim() || `haversack/run-${runId}`;
    return name
      .replaceAll("{branch}", branch)
      .replaceAll("{machine}", machine.replace(/[^\w.-]+/g, "-"))
      .replaceAll("{run}", runId);
  }

  async #pushOne(commit: string | undefined, branch: string): Promise<Pushed> {
    const { cwd, remote } = this.#request;
    if (commit === undefined) return { kind: "unchanged" };
    if (git(cwd, ["check-ref-format", "--branch", branch]) === undefined)
      return this.#once(branch, { kind: "refused", why: `${branch} is not a valid branch name` });
    if (this.#tried.get(branch) === commit) return { kind: "unchanged" };
    this.#tried.set(branch, commit);
    const why = await this.#git(["push", "--quiet", remote, `${commit}:refs/heads/${branch}`]);
    return why === undefined ? { kind: "pushed", to: `${remote} ${branch}` } : { kind: "refused", why };
  }

  #once(key: string, outcome: Pushed): Pushed {
    if (this.#tried.has(key)) return { kind: "unchanged" };
    this.#tried.set(key, "");
    return outcome;
  }

  /** Without stopping the process: claims must be held meanwhile. Undefined: it worked. */
  #git(words: readonly string[]): Promise<string | undefined> {
    const { cwd, env } = this.#request;
    return new Promise((resolve) => {
      const child = spawn("git", words, {
        cwd,
        // Nobody is there to answer a question.
        env: { GIT_SSH_COMMAND: "ssh -oBatchMode=yes", ...env, GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
        stdio: ["ignore", "ignore", "pipe"],
        timeout: PUSH_MS,
        killSignal: "SIGKILL",
      });
      let text = "";
      child.stderr.setEncoding("utf8").on("data", (part) => (text += part));
      child.on("error", (error) => resolve(error.message));
      child.on("close", (code) => resolve(code === 0 ? undefined : reasonOf(text)));
    });
  }
}

function reasonOf(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  return lines.slice(-2).join("; ") || "git push failed";
}
