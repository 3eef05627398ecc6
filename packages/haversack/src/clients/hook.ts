/**
 * The process that a client starts at every event: `hook.cjs CLIENT`, the client's payload on standard input. This file only
 * loads the others in their compiled form: hook-main.cjs, which every event needs, and the one that answers the event:
 * hook-prompt.cjs, hook-tool.cjs, hook-start.cjs or hook-session.cjs; hook-rules.cjs where the project has rules, hook-wake.cjs and hook-packet.cjs where a
 * session or a sub-agent may have work to go on with, hook-again.cjs where a session goes on, hook-messages.cjs where a message waits,
 * hook-artifacts.cjs for sub-agents with documents to read, hook-spool.cjs while another process holds the store's lock, hook-git.cjs where a turn or a session ends, hook-log.cjs when something fails. None loads more than
 * `fs`, `node:sqlite` and `node:vm`, and none may exceed 70 kB: each 50 kB of code costs a start 5 to 10%, used or not. This one is
 * compiled anew at each start, a tenth of a millisecond for each kB.
 *
 * A hook never harms the session: whatever goes wrong is logged, nothing is printed, and the exit code is 0. Its time is
 * bounded by its parts: a fifth of a second for a locked store, 50 ms for all patterns, and texts that are cut before they are
 * searched.
 */
import { loadCached, loaded, readFileSync, saving } from "./load-cached.ts";

function main(): void {
  const { env, argv } = process;
  const client = argv[2] as string;
  if (env["HAVERSACK"] === "0" || !CLIENTS.includes(client)) return;
  try {
    const payload = JSON.parse(readFileSync(0, "utf8"));
    const part = partFor(payload.hook_event_name, payload.tool_name, client);
    const names = ["hook-main"];
    if (part) names.push(part);
    if (client !== CLIENTS[0]) names.push(`hook-${client}`);
    // A package (plugin, extension) says so with one word more.
    if (argv[3]) names.push("hook-packaged");
    const files: ReturnType<typeof loadCached> = {};
    const load = (...more: string[]) => {
      const [name = ""] = more;
      if (!files[name]) Object.assign(files, loadCached(more, env));
      return files[name];
    };
    try {
      // A named agent mostly has something to go on with.
      if (part === "hook-start" && env["HAVERSACK_AGENT"]) load(...names, "hook-wake", "hook-packet");
    } catch {
      // One of these is missing: the others can still say so in the log.
    }
    load(...names);
    const { adapter } = files[`hook-${client}`] ?? {};
    const ways = files["hook-main"].answerClient(payload, files[part], load, adapter, files["hook-packaged"]);
    for (const one of loaded) if ((one.ways | ways) !== one.ways) saving().saveCompiled(one, ways);
  } catch {
    // No JSON, or an installation with a file missing: without a project there is no log to write to.
  }
}

/** The first one's payloads are read by the parts themselves; for the others there is a file each. */
const CLIENTS = ["claude-code", "codex", "gemini"];

/** By the names of all clients; "" brings messages only, as the end of a turn does. */
function partFor(event: string, tool: string | undefined, client: string): string {
  if (event === "UserPromptSubmit" || event === "BeforeAgent") return "hook-prompt";
  // Gemini's start is answered with its first prompt.
  if (event === "Stop" || (event === "SessionStart" && client === "gemini")) return "";
  // Codex's sub-agents have their windows emptied.
  if (event === "SessionStart" || event === "PostCompact") return "hook-start";
  // A call that ran a sub-agent is about tasks and handoffs; what the sub-agent did, its own events have told.
  const isAfterTool = event.startsWith("PostToolUse") || event === "AfterTool";
  return isAfterTool && tool !== "Agent" && !tool?.endsWith("spawn_agent") ? "hook-tool" : "hook-session";
}

main();
// A normal end, and process.exit too, would close the store and copy its log into the main file: time that nobody has here.
// What was committed is safe without it. The method is what process.exit itself ends with.
(process as unknown as { reallyExit(code: number): never }).reallyExit(0);
