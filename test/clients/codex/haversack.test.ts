/** Haversack in the real Codex: the files that `init` writes, and its MCP server. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CODEX_HOOKS } from "../../../packages/haversack/src/clients/codex/hooks-file.ts";
import { hookGroups } from "../../../packages/haversack/src/clients/hook-settings.ts";
import { namespaceCall, textCall } from "../responses-api.ts";
import type { ResponsesRequest } from "../responses-request.ts";
import { type Reply, type Script, steps } from "../script.ts";
import { type CodexRepo, RECORDER } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo, ours, trustFolder } from "./haversack-repo.ts";
import { CODE_MODEL, type CodexRun } from "./run-codex.ts";
import { patch, shell, spawnAgent } from "./tour.ts";

const call = (tool: string, input: Record<string, unknown> = {}): Reply => ({
  tools: [namespaceCall("mcp__haversack", tool, input)],
});

/** A hook.cjs that records: which of our entries the client runs, with what. */
function recordingRepo(scope: "project" | "user"): CodexRepo {
  const repo = haversackRepo(scope);
  const hook = join(repo.base, "hook.cjs");
  writeFileSync(hook, `process.argv[2] = ${JSON.stringify(repo.base)}; require(${JSON.stringify(RECORDER)});`);
  writeFileSync(join(repo.base, "answers.json"), "{}");
  const file = scope === "user" ? join(repo.codexHome, "hooks.json") : join(repo.root, ".codex/hooks.json");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/'[^']*\/dist\/hook\.cjs'/g, `'${hook}'`));
  return repo;
}

/** What the client would show to the person, but for the tests' own switch. */
function complaints({ events }: CodexRun): unknown[] {
  const errors = events.flatMap(({ item }) => (item?.type === "error" ? [item["message"]] : []));
  return errors.filter((message) => !String(message).includes("--dangerously-bypass-hook-trust"));
}

describe("the files that init writes", () => {
  it.each(["project", "user"] as const)("are understood by the client, for the %s", async (scope) => {
    const repo = recordingRepo(scope);
    if (scope === "project") trustFolder(repo);
    const script = steps(
      [
        shell("true"),
        patch("*** Add File: new.txt", "+x"),
        spawnAgent("Look around."),
        call("skill", { name: "sql-tuning" }),
        { ...shell("sleep 1"), usage: { inputTokens: 120_000 } },
      ],
      { kind: "sub-agent", reply: { text: "Report." } },
    );
    const { run, server } = await codexOnce("Go.", script, {
      repo,
      skipApprovals: false,
      args: ["--strict-config", "-s", "workspace-write"],
      config: { model_auto_compact_token_limit: 100_000 },
    });
    expect(run, run.stderr).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
    expect(complaints(run)).toEqual([]);
    const seen = repo.hooks().map(({ payload }) => payload.hook_event_name);
    expect([...new Set(seen)].sort()).toEqual(Object.keys(hookGroups(CODEX_HOOKS, "", { hasGuards: false })).sort());
    const after = repo.hooks("PostToolUse").map(({ payload }) => payload.tool_name);
    expect(new Set(after)).toEqual(new Set(["Bash", "apply_patch", "spawn_agent"]));
    expect(repo.hooks("PreToolUse").map(({ payload }) => payload.tool_name)).toEqual(["spawn_agent"]);
    const results = server.requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    expect(results.join("\n")).toContain("BODY-OF-sql-tuning");
  });

  it("of a project count for nothing in a folder that the person does not trust", async () => {
    const repo = recordingRepo("project");
    const { run } = await codexOnce("Go.", [], { repo, skipApprovals: false });
    expect(run.exitCode).toBe(0);
    expect(repo.hooks()).toEqual([]);
  });

  it("are silent when the runtime is gone", async () => {
    const repo = haversackRepo("user", { node: "/nowhere/node" });
    const { run, server } = await codexOnce("Go.", steps([shell("true"), call("skill", { name: "x" })]), { repo });
    expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
    expect(complaints(run)).toEqual([]);
    expect(server.requests[2]?.toolResults[0]?.text).toMatch(/unsupported call/);
  });
});

describe("the MCP server", () => {
  it("answers skill and get_next_batch without a question, the body once in a window", async () => {
    const repo = haversackRepo("user");
    haversack(repo, "task", "create", "Tune the report");
    const load = call("skill", { name: "pdf-forms" });
    const { server } = await codexOnce("Go.", steps([load, load, call("get_next_batch")]), {
      repo,
      skipApprovals: false,
    });
    const [first, second, batch] = server.requests.slice(1).map(({ toolResults }) => toolResults[0]?.text ?? "");
    expect(first).toContain("BODY-OF-pdf-forms");
    expect(second).not.toContain("BODY-OF-pdf-forms");
    expect(batch).toContain("Tune the report");
  });

  it("answers a model that calls it from JavaScript", async () => {
    const repo = haversackRepo("user");
    haversack(repo, "task", "create", "Tune the report");
    const code =
      'text(await tools.mcp__haversack__skill({ name: "pdf-forms" })); text(await tools.mcp__haversack__get_next_batch({}));';
    const script = steps([{ tools: [textCall("exec", code)] }]);
    const { server } = await codexOnce("Go.", script, { repo, model: CODE_MODEL, skipApprovals: false });
    const text = server.requests[1]?.toolResults[0]?.text;
    expect(text).toContain("BODY-OF-pdf-forms");
    expect(text).toContain("Tune the report");
  });

  it.each([true, false])("gives the body to each agent and each window for itself (hooks %s)", async (trustHooks) => {
    const repo = haversackRepo("user");
    const load = call("skill", { name: "pdf-forms" });
    const script = steps(
      [load, spawnAgent("Look."), { ...shell("sleep 1"), usage: { inputTokens: 120_000 } }, load, load],
      { kind: "sub-agent", n: 1, reply: load },
      { kind: "sub-agent", n: 2, reply: load },
    );
    const config = { model_auto_compact_token_limit: 100_000 };
    const { server } = await codexOnce("Go.", script, { repo, trustHooks, config });
    const bodies = (kind: "main" | "sub-agent") =>
      server
        .of(kind)
        .flatMap(({ toolResults }) => toolResults.map(({ text }) => text))
        .filter((text) => /Wall time/.test(text) && !/Process/.test(text))
        .map((text) => text.includes("BODY-OF-pdf-forms"));
    // With hooks the packet after the compaction brings the body back, and the tool need not.
    const packets = ours(server.of("main").at(-1) as ResponsesRequest).filter((text) =>
      text.includes("BODY-OF-pdf-forms"),
    );
    expect(packets).toHaveLength(trustHooks ? 1 : 0);
    expect(bodies("main")).toEqual([true, !trustHooks, false]);
    expect(bodies("sub-agent")).toEqual([true, false]);
  });

  it("is told when everything is switched off", async () => {
    const repo = haversackRepo("user");
    const { server } = await codexOnce("Go.", steps([call("skill", { name: "pdf-forms" })]), {
      repo,
      env: { HAVERSACK: "0" },
    });
    expect(server.requests[1]?.toolResults[0]?.text).toMatch(/unsupported call/);
  });
});

it("leaves the session unharmed when the store is broken", async () => {
  const repo = haversackRepo("user");
  writeFileSync(
    join(repo.root, ".haversack/haversack.db"),
    "this is no database, and long enough to look like none at all",
  );
  const { run, server } = await codexOnce("Go.", steps([call("skill", { name: "pdf-forms" }), shell("echo on")]), {
    repo,
  });
  expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(server.requests[2]?.toolResults[0]?.text).toContain("on");
});

it("session list says how full the context of the running session is", async () => {
  const repo = haversackRepo("user");
  let listed: unknown[] = [];
  const script: Script = (request, n) => {
    if (request.kind !== "main") return undefined;
    if (n === 1) return { ...shell("true"), usage: { inputTokens: 5_000, outputTokens: 20 } };
    if (n === 2) listed = JSON.parse(haversack(repo, "session", "list", "--json")).sessions;
    return { text: "end" };
  };
  await codexOnce("Go.", script, { repo });
  expect(listed).toMatchObject([
    {
      client: "codex",
      context: { used_tokens: 5_020, window_tokens: expect.any(Number), percent: expect.any(Number) },
    },
  ]);
});
