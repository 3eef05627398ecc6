/** The built hook stores no secrets from prompts, commands, outputs or paths in any file of the project's state. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchProject } from "./bins.ts";

const lines = [
  "cKj8sU9tUTJV7CQABoIAAgEAjSggwcBKCS",
  "AAFEQAB0w9GkqhkgBNADABIQvEIIMa1b2C3",
  "d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0",
];
const pem = (joint: string) =>
  [
    ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" "),
    ...lines.map((line) => `${line}${line}`.slice(0, 64)),
    ["-----END", "RSA PRIVATE KEY-----"].join(" "),
  ].join(joint);
const token = ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_");

function project() {
  const scratch = scratchProject();
  scratch.haversack(["skill", "index"]);
  const base = { session_id: "s1", cwd: scratch.root };
  const tool = (command: string, output: string) =>
    scratch.hook({
      ...base,
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_input: { command },
      tool_response: { stdout: output, stderr: "", interrupted: false },
    });
  const state = () => {
    const folder = join(scratch.root, ".haversack");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
  };
  return { ...scratch, base, tool, state };
}

describe("the state folder after the hook's events", () => {
  it("holds no line of a private key that a command quoted", () => {
    const { tool, state } = project();
    for (const command of [`vitest run --key "${pem("\\n")}"`, `vitest run '${pem("' '")}'`]) {
      expect(tool(command, " FAIL  a.test.ts > login\n      Tests  1 failed (1)\n")).toMatchObject({
        code: 0,
        err: "",
      });
    }
    const kept = state();
    expect(kept).toContain("vitest run");
    expect(kept).toContain("[masked:private-key]");
    for (const line of lines) expect(kept).not.toContain(line.slice(2, 20));
  });

  it("holds no secret of an output, a path, or a prompt", () => {
    const { base, hook, tool, state, root } = project();
    tool("vitest run", ` FAIL  a.test.ts > uses ${token}\n      Tests  1 failed (1)\n`);
    tool("mysql -h db -u root -phunter2pw main", "ERROR 1045: Access denied\n");
    for (const path of [join(root, "tmp", token, "a.ts"), "https://me:hunter2pw@host.dev/a.ts"]) {
      hook({
        ...base,
        hook_event_name: "PostToolUse",
        tool_name: "Edit",
        tool_input: { file_path: path },
        tool_response: {},
      });
    }
    const prompts = [
      `use ${token}`,
      "the db password is hunter2pw",
      `${"x ".repeat(240)}${token}`,
      `{"a":"b\\nmysql -phunter2pw"}`,
    ];
    for (const prompt of prompts) {
      expect(hook({ ...base, hook_event_name: "UserPromptSubmit", prompt })).toMatchObject({ code: 0, err: "" });
    }
    const kept = state();
    expect(kept).toContain("[masked:github-token]");
    expect(kept).not.toContain(token.slice(0, 12));
    expect(kept).not.toContain("hunter2pw");
  });
});
