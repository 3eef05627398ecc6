/** A reader that closes the pipe early (`| head -1`) does not stop a command halfway. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DIST, type Scratch, scratchProject } from "./bins.ts";

/** Runs the command when the reader has certainly gone. */
function runUnread({ root, home }: Scratch, words: string[]): { code: number; err: string } {
  const script = `trap "" PIPE; { while echo x; do :; done 2>/dev/null; "$@"; echo "code $?" >&2; } | true`;
  const { stderr } = spawnSync("sh", ["-c", script, "sh", process.execPath, join(DIST, "haversack.cjs"), ...words], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: join(home, ".config") },
  });
  const [, err = "", code] = /^(.*)code (\d+)\n$/s.exec(stderr) ?? [];
  return { code: Number(code), err };
}

it("finishes every task although nobody reads the output", () => {
  const project = scratchProject();
  const ids = [1, 2, 3, 4].map((n) => project.haversack(["task", "create", `Task ${n}`, "--json"]).json().id as string);
  expect(runUnread(project, ["done", ...ids])).toEqual({ code: 0, err: "" });
  for (const id of ids)
    expect(project.haversack(["task", "show", id, "--json"]).json()).toMatchObject({ status: "done" });
  // Errors still set the exit code.
  expect(runUnread(project, ["done", ids[0]!, "T0000"]).code).toBe(1);
});

it("wires and unwires a client although nobody reads the output", () => {
  const project = scratchProject();
  const settings = join(project.root, ".claude/settings.local.json");
  expect(runUnread(project, ["init", "--client", "claude-code", "--yes"]).code).toBe(0);
  expect(readFileSync(settings, "utf8")).toContain("haversack");
  expect(runUnread(project, ["uninstall", "--yes"]).code).toBe(0);
  expect(existsSync(settings) && readFileSync(settings, "utf8").includes("haversack")).toBe(false);
});
