// `npm start`: what Haversack does, in a scratch repository, with the real bins and their real output.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../packages/haversack/dist");
const base = mkdtempSync(join(tmpdir(), "haversack-demo-"));
const repo = join(base, "shop");
const env = { ...process.env, HOME: join(base, "home"), XDG_CONFIG_HOME: join(base, "home/.config") };
delete env.HAVERSACK;
mkdirSync(repo);
execFileSync("git", ["init", "-q"], { cwd: repo });

try {
  say("A repository with three skills. The client would list all of them in every request.");
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
  haversack(["skills", "list"]);

  say("A prompt that needs one brings that one, in full, once …");
  haversack(
    ["discover", "--session", "demo"],
    "the checkout endpoint returns 500 for bad input, report proper error status codes",
  );
  say("… the same topic again brings its name at most …");
  haversack(["discover", "--session", "demo"], "also report error status codes from the refund endpoint");
  say("… and an ordinary prompt brings nothing at all.");
  haversack(["discover", "--session", "demo"], "continue");
  say("Why was that?");
  haversack(["why", "--session", "demo", "--limit", "2"]);
  say(
    "In Claude Code hooks do this by themselves (haversack init wires them). A file is written, a test fails, and the window is compacted:",
  );
  hook({ hook_event_name: "UserPromptSubmit", prompt: "use the api-errors skill for the refund endpoint" });
  hook({
    hook_event_name: "PostToolUse",
    tool_name: "Write",
    tool_use_id: "1",
    tool_input: { file_path: join(repo, "src/refund.ts") },
  });
  hook({
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_use_id: "2",
    tool_input: { command: "npx vitest run" },
    error: "Exit code 1\n FAIL  src/refund.test.ts > refuses twice\n Tests  1 failed | 11 passed (12)",
  });
  hook({ hook_event_name: "SessionStart", source: "compact" });
  say("What the session cost, and whether the store is sound:");
  haversack(["skills", "stats"]);
  haversack(["store", "check"]);
} finally {
  rmSync(base, { recursive: true, force: true });
}

function hook(fields) {
  const payload = { session_id: "claude", cwd: repo, ...fields };
  const shown = { ...fields, ...(fields.tool_input && { tool_input: "…" }), ...(fields.error && { error: "…" }) };
  console.log(`\n$ echo '${JSON.stringify(shown)}' | node hook.cjs claude-code`);
  const input = JSON.stringify(payload);
  const { stdout } = spawnSync(process.execPath, [join(dist, "hook.cjs"), "claude-code"], {
    cwd: repo,
    env,
    input,
    encoding: "utf8",
  });
  console.log(stdout ? JSON.parse(stdout).hookSpecificOutput.additionalContext.replaceAll(base, "") : "(nothing)");
}

function say(text) {
  console.log(`\n\u2022 ${text}`);
}

function skill(name, description, body) {
  const folder = join(repo, ".claude/skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: "${description}"\n---\n\n# ${name}\n\n${body}`,
  );
}

function haversack(words, stdin) {
  console.log(`\n$ ${stdin ? `echo ${JSON.stringify(stdin)} | ` : ""}haversack ${words.join(" ")}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "haversack.cjs"), ...words], {
    cwd: repo,
    env,
    input: stdin ?? "",
    encoding: "utf8",
  });
  console.log(`${stdout}${stderr}`.trimEnd().replaceAll(base, "") || "(nothing)");
  if (status !== 0) {
    console.error(`demo: haversack ${words[0]} ended with ${status}`);
    process.exitCode = 1;
  }
}
