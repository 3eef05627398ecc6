/** A task that was claimed under an agent's name in a shell, and the sessions that work under that name. With the built bins. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchProject } from "./bins.ts";

const JUNE = { HAVERSACK_AGENT: "june" };

function namedProject(client: "claude-code" | "gemini" = "claude-code") {
  const project = scratchProject();
  const id = project.haversack(["task", "create", "Limit logins", "--json"]).json().id as string;
  const hook = (session_id: string, fields: object) => {
    const ran = project.hook({ session_id, cwd: project.root, ...fields }, { client, env: JUNE });
    expect(ran).toMatchObject({ code: 0, err: "" });
    return ran.out;
  };
  const start = (session: string) => hook(session, { hook_event_name: "SessionStart", source: "startup" });
  const edit = (session: string, name: string) => {
    const file_path = join(project.root, name);
    const call = { tool_use_id: name, tool_input: { file_path, content: "x" }, tool_response: { filePath: file_path } };
    return client === "gemini"
      ? hook(session, { hook_event_name: "AfterTool", tool_name: "write_file", ...call })
      : hook(session, { hook_event_name: "PostToolUse", tool_name: "Write", ...call });
  };
  const claim = () => expect(project.haversack(["task", "claim", id], { env: JUNE }).code).toBe(0);
  const files = () => project.haversack(["wip", id, "--json"]).json().wip?.files_modified;
  return { ...project, id, hook, start, edit, claim, files };
}

it.each(["claude-code", "gemini"] as const)("what a session of the name does is kept with the task: %s", (client) => {
  const { claim, start, edit, files } = namedProject(client);
  claim();
  start("s9");
  edit("s9", "limit.ts");
  expect(files()).toEqual(["limit.ts"]);
});

it("the next session of the name goes on from it", () => {
  const { id, claim, start, edit, hook } = namedProject();
  claim();
  start("s9");
  edit("s9", "limit.ts");
  hook("s9", { hook_event_name: "SessionEnd", reason: "other" });
  const next = start("s10");
  for (const part of [id, "limit.ts"]) expect(next).toContain(part);
  expect(next).not.toContain("nothing is recorded");
});

it("also when the claim comes after the session's start; another session of the name does not get it", () => {
  const { claim, start, edit, files } = namedProject();
  start("s9");
  claim();
  edit("s9", "limit.ts");
  start("s10");
  edit("s10", "other.ts");
  expect(files()).toEqual(["limit.ts"]);
});
