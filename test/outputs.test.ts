/** Long tool outputs: kept and replaced by a preview where the user has switched that on, and recalled by line, by text, or whole. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { scratchProject } from "./bins.ts";
import { startServer } from "./mcp-client.ts";

const LINES = Array.from({ length: 900 }, (_, at) =>
  at === 480 ? "FAIL src/cart.test.ts > adds up" : `ok ${at + 1} item`,
);
const OUTPUT = `${LINES.join("\n")}\n`;

function begin({ over = "4000" }: { over?: string } = {}) {
  const project = scratchProject();
  expect(project.haversack(["task", "create", "Anything"]).code).toBe(0);
  if (over) expect(project.haversack(["config", "set", "outputs.replace_over", over]).code).toBe(0);
  let calls = 0;
  const event = (tool_name: string, tool_input: object, tool_response: unknown, more: object = {}) => ({
    hook_event_name: "PostToolUse",
    session_id: "s1",
    cwd: project.root,
    transcript_path: join(project.root, "none.jsonl"),
    tool_use_id: `call-${++calls}`,
    tool_name,
    tool_input,
    tool_response,
    ...more,
  });
  const bash = (command: string, stdout: string, more: object = {}) =>
    event("Bash", { command }, { stdout, stderr: "", interrupted: false, isImage: false, ...more });
  const read = (content: string, path = join(project.root, "a.ts")) =>
    event(
      "Read",
      { file_path: path },
      { type: "text", file: { filePath: path, content, numLines: 900, startLine: 1, totalLines: 900 } },
    );
  const replaced = (payload: object) => {
    const { out, code, err } = project.hook(payload);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out === "" ? undefined : JSON.parse(out).hookSpecificOutput.updatedToolOutput;
  };
  return { project, event, bash, read, replaced };
}

const handleIn = (text: string) => /kept (?:this output )?as (K\d{6})/.exec(text)?.[1] ?? "";

describe("a long output of a command", () => {
  it("stays as it is until the user switches it on", () => {
    const { project, bash, replaced } = begin({ over: "" });
    expect(replaced(bash("npm test", OUTPUT))).toBeUndefined();
    expect(project.haversack(["recall"]).out).toContain("No tool output is kept. `haversack config set");
    project.haversack(["config", "set", "outputs.replace_over", "4000"]);
    expect(project.haversack(["recall"]).out).toBe("No tool output is kept.\n");
  });

  it("is replaced in the tool's own shape, and comes back whole, by lines and by text", async () => {
    const { project, bash, replaced } = begin();
    const shown = replaced(bash("npm test", OUTPUT, { stderr: "one warning" }));
    expect(shown).toMatchObject({ stderr: "", interrupted: false, isImage: false });
    expect(shown.stdout).toContain("FAIL src/cart.test.ts > adds up");
    expect(shown.stdout.length).toBeLessThan(OUTPUT.length / 3);
    const handle = handleIn(shown.stdout);
    expect(shown.stdout).toContain(`mcp__haversack__recall(handle: "${handle}", lines: "`);
    expect(project.haversack(["recall", handle, "--all"]).out).toBe(`${OUTPUT}\none warning`);
    expect(project.haversack(["recall", handle, "--lines", "480-482"]).out).toBe(
      "ok 480 item\nFAIL src/cart.test.ts > adds up\nok 482 item\n",
    );
    expect(project.haversack(["recall", handle, "--find", "cart", "--json"]).json()).toMatchObject({
      handle,
      source: "npm test",
      about: '1 line of 902 contain "cart"',
    });
    const server = await startServer(project);
    const { tools } = await server.request("tools/list");
    expect(tools.map(({ name }: { name: string }) => name)).toContain("recall");
    const { text } = await server.call("recall", { handle, lines: "481" });
    expect(text).toBe(`[${handle}: lines 481-481 of 902]\nFAIL src/cart.test.ts > adds up`);
    expect((await server.call("recall", { handle: "K1" })).isError).toBe(true);
    expect(project.haversack(["why", "--session", "s1"]).out).toContain(`output ${handle} of npm test`);
    const [usage] = project.haversack(["usage", "--json"]).json().sessions;
    expect(usage).toMatchObject({ added: { uncached: 0 }, shortened: { count: 1, tokens: expect.any(Number) } });
    expect(usage.shortened.tokens).toBeGreaterThan(1_500);
  });

  it("costs a session no tool while it is off", async () => {
    const { project } = begin({ over: "" });
    const server = await startServer(project);
    const { tools } = await server.request("tools/list");
    expect(tools.map(({ name }: { name: string }) => name)).not.toContain("recall");
  });

  it("of Haversack itself, an image, or one that the client has put into a file stays as it is", () => {
    const { bash, replaced } = begin();
    expect(replaced(bash("haversack recall K123456 --all", OUTPUT))).toBeUndefined();
    expect(replaced(bash("plot", OUTPUT, { isImage: true }))).toBeUndefined();
    expect(replaced(bash("npm test", OUTPUT, { persistedOutputPath: "/tmp/x" }))).toBeUndefined();
  });

  it("stays as it is if a secret is in it, because the store would mask it", () => {
    const { project, bash, replaced } = begin();
    const secret = `TOKEN=ghp_${"a1B2".repeat(9)}\n`;
    expect(replaced(bash("npm test", `${OUTPUT}${secret}`))).toBeUndefined();
    expect(project.haversack(["recall"]).out).toBe("No tool output is kept.\n");
  });

  it("stays as it is while the store is locked, because it could not be recalled", () => {
    const { project, bash, replaced } = begin();
    const db = new DatabaseSync(join(project.root, ".haversack/haversack.db"));
    db.exec("BEGIN IMMEDIATE");
    try {
      expect(replaced(bash("npm test", OUTPUT))).toBeUndefined();
    } finally {
      db.close();
    }
    expect(replaced(bash("npm test", OUTPUT))).toBeDefined();
  });

  it("stays as it is if the settings cannot be read", () => {
    const { project, bash } = begin();
    project.write(".haversack/config.json", "{ broken");
    expect(project.hook(bash("npm test", OUTPUT))).toMatchObject({ code: 0, out: "", err: "" });
  });

  it("is not replaced because a cloned repository's config says so", () => {
    const { project, bash, replaced } = begin({ over: "" });
    project.write(".haversack/config.json", JSON.stringify({ outputs: { replace_over: 4000 } }));
    expect(replaced(bash("npm test", OUTPUT))).toBeUndefined();
  });
});

describe("a file", () => {
  it("is shown whole at first, as a note when it is read again unchanged, and whole when it has changed", () => {
    const { project, read, replaced } = begin();
    expect(replaced(read(OUTPUT))).toBeUndefined();
    const again = replaced(read(OUTPUT));
    expect(again.file.content).toMatch(/^\[Haversack: unchanged since it was shown earlier/);
    expect(project.haversack(["recall", handleIn(again.file.content), "--all"]).out).toBe(OUTPUT);
    expect(replaced(read(`${OUTPUT}changed`))).toBeUndefined();
    expect(replaced(read(OUTPUT, join(project.root, "b.ts")))).toBeUndefined();
  });

  it("that a command shows counts as a file", () => {
    const { bash, replaced } = begin();
    expect(replaced(bash("sed -n '1,900p' src/a.ts", OUTPUT))).toBeUndefined();
    expect(replaced(bash("sed -n '1,900p' src/a.ts", OUTPUT)).stdout).toContain("unchanged since");
  });

  it("is shown whole again after a compaction, and to a sub-agent", () => {
    const { project, read, replaced } = begin();
    expect(replaced(read(OUTPUT))).toBeUndefined();
    expect(replaced({ ...read(OUTPUT), agent_id: "a1", agent_type: "general-purpose" })).toBeUndefined();
    project.hook({ hook_event_name: "SessionStart", source: "compact", session_id: "s1", cwd: project.root });
    expect(replaced(read(OUTPUT))).toBeUndefined();
    expect(replaced(read(OUTPUT))).toBeDefined();
  });
});

describe("a result of an MCP tool", () => {
  it("is replaced as a list of blocks, unless it has an image or is ours", () => {
    const { event, replaced } = begin();
    const block = { type: "text", text: JSON.stringify(LINES) };
    const [shown, ...others] = replaced(event("mcp__github__list_issues", {}, [block]));
    expect(others).toEqual([]);
    expect(shown.text).toMatch(/\[characters \d+-\d+ left out\]/);
    expect(replaced(event("mcp__haversack__get_tasks", {}, [block]))).toBeUndefined();
    expect(
      replaced(event("mcp__x__shot", {}, [block, { type: "image", data: "", mimeType: "image/png" }])),
    ).toBeUndefined();
  });

  it("is seen by the hooks that init writes once it is switched on, and doctor misses them before", () => {
    const project = scratchProject();
    expect(project.haversack(["init", "--client", "claude-code", "--hooks", "command", "--yes"]).code).toBe(0);
    const settings = () => readFileSync(join(project.root, ".claude/settings.local.json"), "utf8");
    expect(settings()).not.toContain("^mcp__");
    project.haversack(["config", "set", "outputs.replace_over", "4000"]);
    expect(project.haversack(["doctor"]).out).toContain("PostToolUse has another matcher");
    expect(project.haversack(["init", "--client", "claude-code", "--hooks", "command", "--yes"]).code).toBe(0);
    expect(settings()).toMatch(/\^\(Edit\|[^"]*\)\$\|\^mcp__/);
  });
});

it("Codex gets the preview as the reason of a block", () => {
  const { project, bash } = begin();
  const payload = { ...bash("npm test", ""), tool_response: OUTPUT };
  const answer = JSON.parse(project.hook(payload, { client: "codex" }).out);
  expect(answer).toMatchObject({
    decision: "block",
    reason: expect.stringContaining("FAIL src/cart.test.ts > adds up"),
  });
  expect(project.haversack(["recall", handleIn(answer.reason), "--all"]).out).toBe(OUTPUT);
  const mcp = {
    ...payload,
    tool_name: "mcp__github__list",
    tool_response: { content: [{ type: "text", text: OUTPUT }] },
  };
  expect(JSON.parse(project.hook(mcp, { client: "codex" }).out).decision).toBe("block");
  const own = { ...mcp, tool_name: "mcp__haversack__get_tasks" };
  expect(project.hook(own, { client: "codex" }).out).toBe("");
});

it("Codex, which reads files with commands, gets a note for one that is unchanged", () => {
  const { project, bash } = begin();
  const payload = { ...bash("cat src/a.ts", ""), tool_response: OUTPUT };
  expect(project.hook(payload, { client: "codex" }).out).toBe("");
  const { reason } = JSON.parse(project.hook(payload, { client: "codex" }).out);
  expect(reason).toContain("unchanged since it was shown earlier");
  expect(project.haversack(["recall", handleIn(reason), "--all"]).out).toBe(OUTPUT);
});

it("kept outputs are counted by doctor and removed by store purge", () => {
  const { project, bash, replaced } = begin();
  const handle = handleIn(replaced(bash("npm test", OUTPUT)).stdout);
  expect(project.haversack(["doctor"]).out).toContain("1 kept tool output");
  expect(project.haversack(["recall"]).out).toMatch(new RegExp(`^${handle} .* npm test`));
  const purge = project.haversack(["store", "purge", "--older-than", "2099-01-01", "--yes", "--json"]).json();
  expect(purge.removed).toMatchObject({ outputs: 1, output_texts: 1 });
  const gone = project.haversack(["recall", handle]);
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining(`there is no kept output ${handle}`) });
});
