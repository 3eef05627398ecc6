/** What `init` writes for Gemini CLI, and the extension, in the real client: accepted, our server's tools called, `/work` known. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { gemini } from "../../../packages/haversack/src/clients/gemini/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import { textOf } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, placeOf, sqlRepo, wire } from "./haversack-repo.ts";
import { runGemini, spawnGemini } from "./run-gemini.ts";

const ROOT = join(import.meta.dirname, "../../..");
const NODE_ON_PATH = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };

const load = { tools: [toolCall("mcp_haversack_skill", { name: "sql-tuning" })] };
const next = { tools: [toolCall("mcp_haversack_get_next_batch", {})] };

it.each(["project", "user"] as const)(
  "wired for the %s: skill and get_next_batch answer without a question",
  async (scope) => {
    const repo = sqlRepo();
    haversack(repo, "task", "create", "Mend the index");
    wire(repo, scope);
    const server = await testServer(steps([load, next, { text: "end" }]));
    const run = await runGemini({ repo, server, prompt: "Go.", skipPermissions: false });
    expect(run.exitCode).toBe(0);
    const [, skill, batch] = server.of("main").map(({ toolResults }) => toolResults[0]);
    expect(skill).toMatchObject({ isError: false, text: expect.stringContaining("BODY-OF-sql-tuning") });
    expect(batch).toMatchObject({ isError: false, text: expect.stringContaining("Mend the index") });
    expect(repo.git("status", "--porcelain")).not.toContain(".gemini");
  },
);

it("knows /work, and its agents have our tools", async () => {
  const repo = sqlRepo();
  // A project's agents wait until the user allows them in an interactive session.
  wire(repo, "user");
  const inside: Rule[] = [
    { kind: "sub-agent", n: 1, reply: load },
    { kind: "sub-agent", reply: { tools: [toolCall("complete_task", { result: "VERDICT: PASS" })] } },
  ];
  const spawn = toolCall("invoke_agent", { agent_name: "haversack-implementer", prompt: "Task x" });
  const server = await testServer(steps([{ tools: [spawn] }, { text: "end" }], ...inside));
  await runGemini({ repo, server, prompt: "/work -n 2" });
  expect(textOf(server.of("main")[0]!)).toContain("Arguments: -n 2");
  expect(textOf(server.of("main")[0]!)).toContain("haversack-fixer");
  expect(server.of("sub-agent")[1]?.toolResults[0]?.text).toContain("BODY-OF-sql-tuning");
  expect(server.of("main")[1]?.toolResults[0]?.text).toContain("VERDICT: PASS");
});

it("is taken out again without a trace", () => {
  const repo = sqlRepo();
  const before = repo.git("status", "--porcelain", "--ignored");
  const place = placeOf(repo, "project");
  const kept = gemini.files(place).map((file) => {
    const text = readText(file.path);
    const wired = file.wire(text ?? file.blank);
    expect(file.unwire(wired.text, wired.keep)).toBe(text ?? file.blank);
    return wired;
  });
  expect(kept.length).toBeGreaterThan(5);
  expect(repo.git("status", "--porcelain", "--ignored")).toBe(before);
});

it("installs as an extension, whose server and commands work", async () => {
  const repo = sqlRepo();
  const folder = join(repo.base, "extension");
  const built = spawnSync(process.execPath, [join(ROOT, "scripts/build-gemini.mjs"), folder], { encoding: "utf8" });
  expect(built).toMatchObject({ status: 0, stderr: "" });
  const server = await testServer(steps([load, { text: "end" }]));
  const { exitCode, stderr } = await spawnGemini(["extensions", "install", folder, "--consent"], { repo, server });
  expect(stderr).toContain('"haversack" installed successfully');
  expect(exitCode).toBe(0);
  const run = await runGemini({ repo, server, prompt: "/haversack:start", env: NODE_ON_PATH });
  expect(run.exitCode).toBe(0);
  const [first, second] = server.of("main");
  expect(textOf(first!)).toContain("what was indexed");
  expect(textOf(first!)).toMatch(/sql-tuning|1 skill/);
  expect(second?.toolResults[0]).toMatchObject({ isError: false, text: expect.stringContaining("BODY-OF-sql-tuning") });

  // Beside `init` it stands back: one text for a prompt, one server.
  wire(repo, "project");
  const from = server.of("main").length;
  server.setScript(steps([load, { text: "end" }]));
  await runGemini({ repo, server, prompt: "Make the slow SQL queries fast.", env: NODE_ON_PATH });
  const [both, loaded] = server.of("main").slice(from);
  expect(both?.lastUserText.split("# Skill Recommendations")).toHaveLength(2);
  expect(JSON.stringify(both?.tools).match(/"name":"mcp_[a-z_]*_skill"/g)).toHaveLength(1);
  expect(loaded?.toolResults[0]?.text).toContain("BODY-OF-sql-tuning");
});
