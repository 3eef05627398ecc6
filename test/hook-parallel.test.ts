/** Many hooks at once, as from parallel sessions and sub-agents: real processes on one store. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DIST, scratchProject } from "./bins.ts";

const SESSIONS = 10;
const HOOKS = 50;

it("50 hooks of 10 sessions at once: no update is lost, nothing is printed, nothing is logged", async () => {
  const project = scratchProject();
  project.haversack(["skill", "index"]);
  const runs = Array.from({ length: HOOKS }, (_, at) =>
    runHook(project, {
      session_id: `s${at % SESSIONS}`,
      cwd: project.root,
      hook_event_name: "PostToolUse",
      tool_name: "Write",
      tool_use_id: `t${at}`,
      tool_input: { file_path: join(project.root, `src/file-${at}.ts`), content: "x" },
      tool_response: { type: "create" },
    }),
  );
  for (const ran of await Promise.all(runs)) expect(ran).toEqual({ code: 0, out: "", err: "" });

  for (let session = 0; session < SESSIONS; session++) {
    const { wip } = project.haversack(["wip", "--session", `s${session}`, "--json"]).json();
    const wanted = Array.from({ length: HOOKS / SESSIONS }, (_, n) => `src/file-${session + n * SESSIONS}.ts`);
    expect([...wip.files_modified].sort()).toEqual(wanted.sort());
  }
  expect(project.haversack(["log", "--json"]).json().entries).toEqual([]);
});

function runHook({ root, home }: { root: string; home: string }, payload: unknown) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const child = spawn(process.execPath, [join(DIST, "hook.cjs"), "claude-code"], {
      cwd: root,
      env: { PATH: process.env["PATH"] ?? "", HOME: home },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(JSON.stringify(payload));
  });
}
