/**
 * Whether git would commit what `init` writes. Two processes for any number of files: `init` asks for a dozen of them, several
 * times, and each process costs a few milliseconds.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

/** no-git: there is a repository, and git is not there or refuses. */
export type GitView = "no-repository" | "no-git" | "ignored" | "tracked" | "open";

/** What git would do with a file of the repository, existing or not. */
export function gitView(root: string, path: string): GitView {
  return gitViews(root, [path])[0] ?? "no-git";
}

export function gitViews(root: string, paths: readonly string[]): GitView[] {
  if (!existsSync(join(root, ".git"))) return paths.map(() => "no-repository");
  const names = paths.map((path) => relative(root, path).split(sep).join("/"));
  // Files that are tracked are not among those it prints.
  const ignored = git(root, ["check-ignore", "-z", "--stdin"], names.map((name) => `${name}\0`).join(""));
  if (!ignored) return paths.map(() => "no-git");
  const left = names.filter((name) => !ignored.has(name));
  const tracked =
    left.length > 0 ? git(root, ["--literal-pathspecs", "ls-files", "-z", "--", ...left]) : new Set<string>();
  if (!tracked) return paths.map(() => "no-git");
  const isTracked = (name: string) => tracked.has(name) || [...tracked].some((file) => file.startsWith(`${name}/`));
  return names.map((name) => (ignored.has(name) ? "ignored" : isTracked(name) ? "tracked" : "open"));
}

const excludeFiles = new Map<string, string>();

/** The repository's own list of ignored files, which is not committed either; in a submodule it is not below the root. */
export function excludeFile(root: string): string | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const known = excludeFiles.get(root);
  if (known !== undefined) return known;
  const { status, stdout } = run(root, ["rev-parse", "--git-path", "info/exclude"]);
  if (status !== 0) return undefined;
  const file = resolve(root, stdout.replace(/\n$/, ""));
  excludeFiles.set(root, file);
  return file;
}

/** The names that it prints; undefined when it fails. */
function git(root: string, args: readonly string[], input = ""): Set<string> | undefined {
  const { status, stdout } = run(root, args, input);
  // 1: check-ignore has found none.
  return status === 0 || status === 1 ? new Set(stdout.split("\0").filter(Boolean)) : undefined;
}

function run(root: string, args: readonly string[], input = "") {
  return spawnSync("git", ["-C", root, ...args], { encoding: "utf8", timeout: 10_000, input });
}
