/** `doctor --try-resume codex` with the real client: a headless session that has read a file goes on and still knows it. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { Answer } from "../script.ts";
import { toolCall } from "../script.ts";
import { codexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { DIST } from "./haversack-repo.ts";
import { codexProgram } from "./install.ts";
import { DIRECT_MODEL, environment } from "./run-codex.ts";

it.each([true, false])("keeps what came of it (the model knows the word: %s)", async (knows) => {
  const { findings, requests } = await tryResume(knows);
  expect(requests).toBe(3);
  expect(findings).toEqual([
    knows
      ? { part: "codex sessions resume", level: "ok", text: expect.stringContaining("still knew it") }
      : expect.objectContaining({ level: "fail", text: expect.stringContaining("without its memory: I forgot.") }),
  ]);
});

async function tryResume(knows: boolean) {
  const repo = codexRepo();
  const server = await testServer(model(knows));
  repo.addConfig(configOf(server.url));
  const bin = join(repo.base, "bin");
  mkdirSync(bin);
  symlinkSync(codexProgram(), join(bin, "codex"));
  const env = environment({ repo, server });
  // Not waited for in this process's one thread: the scripted server answers from it.
  const child = spawn(process.execPath, [join(DIST, "haversack.cjs"), "doctor", "--try-resume", "codex", "--json"], {
    cwd: repo.root,
    env: { ...env, PATH: `${bin}:${env["PATH"]}` },
  });
  const [stdout] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  return { findings: JSON.parse(stdout).findings, requests: server.requests.length };
}

function model(knows: boolean): Answer {
  return (request) => {
    const [result] = request.toolResults;
    // From what the client has sent of the conversation.
    const word = /kestrel-\w+/.exec(JSON.stringify(request.body))?.[0];
    if (request.lastUserText.includes("which word stood")) return { text: knows ? `It was ${word}.` : "I forgot." };
    const file = /Read the file (\S+)\. Then/.exec(request.lastUserText)?.[1];
    return result || !file ? { text: "done" } : { tools: [toolCall("exec_command", { cmd: `cat ${file}` })] };
  };
}

/** As a person's own: the trial hands over no settings. */
function configOf(url: string): string {
  return `model = "${DIRECT_MODEL}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[features]
plugins = false
apps = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
`;
}
