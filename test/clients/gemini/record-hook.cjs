// The hook that tests register: `node record-hook.cjs FOLDER`. Appends what it got to FOLDER/records.jsonl and prints the
// answer that FOLDER/answers.json holds for the event, if any. Written for tests only; it never fails the client.
const { appendFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const folder = process.argv[2];
const payload = JSON.parse(readFileSync(0, "utf8"));
const answers = JSON.parse(readFileSync(join(folder, "answers.json"), "utf8"));
// One line, one write: lines of hooks that run at the same time do not mix.
appendFileSync(join(folder, "records.jsonl"), `${JSON.stringify({ payload, cwd: process.cwd(), env: process.env })}\n`);

const event = payload.hook_event_name;
const detail = payload.source ?? payload.tool_name ?? payload.trigger;
const answer = answers[`${event}:${detail}`] ?? answers[event];
if (typeof answer === "string") {
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: answer } }));
} else if (answer) {
  process.stdout.write(answer.stdout ?? JSON.stringify(answer));
  process.exitCode = answer.exitCode ?? 0;
}
