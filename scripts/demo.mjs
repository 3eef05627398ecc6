// `npm start`: shows in a minute what Haversack does, in a scratch repository, with the real bins and their real output. No model is
// called: this script sends the events that a client would send to the hook.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../packages/haversack/dist");
const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-demo-")));
const repo = join(base, "shop");
const env = { PATH: process.env.PATH, HOME: join(base, "home"), TMPDIR: tmpdir() };
const isColour = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const running = new Set();

try {
  mkdirSync(repo);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main"], { cwd: repo, env });
  skill(
    "api-errors",
    "Use when an HTTP endpoint must report errors: status codes, problem details, retry hints.",
    "Return problem details (RFC 9457). Never leak a stack trace.\n",
  );
  skill(
    "db-migrations",
    "Use when a database schema changes: writing, testing and rolling back migrations.",
    "Write the way down first. One change per migration.\n",
  );
  skill(
    "release-notes",
    "Use when writing a changelog entry or release notes for users.",
    "Say what changed for the user, not what the code does.\n",
  );

  say("Three skills. A prompt brings the one it needs, once; others bring nothing.");
  haversack(["discover", "--session", "demo"], { stdin: "the refund endpoint must report proper error status codes" });
  haversack(["discover", "--session", "demo"], { stdin: "continue" });

  say("A task for an agent. Whoever claims it first has it.");
  haversack(["agent", "add", "june", "--role", "implementer"]);
  haversack(["task", "create", "Refunds: report errors properly", "--skill", "api-errors", "--files", "src/refund.ts"]);
  const [{ id }] = JSON.parse(bin("haversack.cjs", ["next", "--json"]).stdout);
  const first = session("s1");
  haversack(["claim", id], { env: first.env, lines: 1 });

  say("The agent writes a file and a test fails. Hooks see it and keep it with the task.");
  first.tool("PostToolUse", "Write", { file_path: join(repo, "src/refund.ts") });
  first.tool(
    "PostToolUseFailure",
    "Bash",
    { command: "npx vitest run" },
    "Exit code 1\n FAIL  src/refund.test.ts > refuses twice\n Tests  1 failed | 11 passed (12)",
  );
  haversack(["wip", id]);

  say("A colleague leaves a message. Then the session is killed.");
  haversack(["agent", "message", "@june", "A refund is at most 500 EUR."]);
  first.kill();

  say("The next session gets this before its first prompt, and goes on where the first one was:");
  const second = session("s2");
  print(second.woken);
  haversack(["task", "done", id], { env: second.env });

  say("`haversack init` connects your coding clients; `haversack help` has the rest.");
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
}

/** A client's session as the hook sees it: a running process, and events with its id. */
function session(sessionId) {
  const client = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  running.add(client);
  const own = { ...env, HAVERSACK_AGENT: "june", CLAUDE_CODE_SESSION_ID: sessionId, CLAUDE_PID: String(client.pid) };
  const send = (fields) => {
    const input = JSON.stringify({ session_id: sessionId, cwd: repo, ...fields });
    const { stdout } = bin("hook.cjs", ["claude-code"], { input, env: own });
    return stdout === "" ? "" : JSON.parse(stdout).hookSpecificOutput.additionalContext;
  };
  let calls = 0;
  return {
    env: own,
    woken: send({ hook_event_name: "SessionStart", source: "startup" }),
    tool: (event, name, input, error) =>
      send({
        hook_event_name: event,
        tool_name: name,
        tool_use_id: `${++calls}`,
        tool_input: input,
        ...(error && { error }),
      }),
    kill() {
      console.log(`$ kill -9 ${client.pid}`);
      client.kill("SIGKILL");
      running.delete(client);
    },
  };
}

function haversack(words, { stdin, env: own = env, lines = Number.POSITIVE_INFINITY } = {}) {
  const shown = words.map((word) => (/^[\w@:./-]+$/.test(word) ? word : JSON.stringify(word)));
  console.log(`$ ${stdin ? `echo ${JSON.stringify(stdin)} | ` : ""}haversack ${shown.join(" ")}`);
  const { status, stdout, stderr } = bin("haversack.cjs", words, { input: stdin ?? "", env: own });
  print(`${stdout}${stderr}` || "(nothing)", lines);
  if (status !== 0) {
    console.error(`demo: haversack ${words[0]} ended with ${status}`);
    process.exitCode = 1;
  }
}

function bin(file, words, { input = "", env: own = env } = {}) {
  return spawnSync(process.execPath, [join(dist, file), ...words], { cwd: repo, env: own, input, encoding: "utf8" });
}

/** Without empty lines, because everything should fit on a screen or two. */
function print(text, lines = Number.POSITIVE_INFINITY) {
  const kept = text
    .replaceAll(base, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  console.log(
    kept
      .slice(0, lines)
      .map((line) => `  ${line}`)
      .join("\n"),
  );
}

function say(text) {
  console.log(isColour ? `\n\u001b[1m\u2022 ${text}\u001b[22m` : `\n\u2022 ${text}`);
}

function skill(name, description, body) {
  const folder = join(repo, ".claude/skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: "${description}"\n---\n\n# ${name}\n\n${body}`,
  );
}
