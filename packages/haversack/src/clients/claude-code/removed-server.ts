/**
 * Hooks that ask an MCP server which was taken out of the client (`claude mcp remove haversack`): the client shows an error at every event, which
 * does not say what to do (seen in 2.1.325). So the person is told at the start of a session. Nothing is lost meanwhile: see
 * engine/events/recover-missed.ts. Loaded by the hook: nothing but `fs`.
 */
import { readBounded } from "../../base/read-text.ts";
import { type Fields, object, text } from "./fields.ts";
import { repositoryRoot } from "./hidden-skills.ts";

/** The client's own state may be long; a file that is longer is not looked at. */
const MAX_BYTES = 4_000_000;

const NOTICE =
  "Haversack: its MCP server is not registered in Claude Code any more, so its hooks show errors. `haversack init` registers it again; `haversack uninstall` removes the hooks too.";

/** A line for the person, at the start of a session; undefined: all is well, or nobody can tell. */
export function removedServerNotice(
  payload: Fields,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const cwd = text(payload["cwd"]);
  const isStart = payload["source"] === "startup" || payload["source"] === "resume";
  if (payload["hook_event_name"] !== "SessionStart" || !isStart || !cwd) return undefined;
  const root = repositoryRoot(cwd);
  const own = env["CLAUDE_CONFIG_DIR"];
  const settings = [`${root}/.claude/settings.local.json`, `${own || `${env["HOME"]}/.claude`}/settings.json`];
  if (!settings.some(asksServer)) return undefined;
  const state = readBounded(`${own || env["HOME"]}/.claude.json`, MAX_BYTES);
  // Too long, or not ours to read.
  if (state !== undefined && state.text === undefined) return undefined;
  if (readBounded(`${root}/.mcp.json`, MAX_BYTES)?.text?.includes('"haversack"')) return undefined;
  return hasServer(state?.text ?? "{}", root) ? undefined : NOTICE;
}

function asksServer(file: string): boolean {
  return /"mcp_tool"[^{}]*"server"\s*:\s*"haversack"/.test(readBounded(file, MAX_BYTES)?.text ?? "");
}

function hasServer(state: string, root: string): boolean {
  try {
    const { mcpServers, projects } = object(JSON.parse(state));
    return [object(object(projects)[root])["mcpServers"], mcpServers].some((servers) => "haversack" in object(servers));
  } catch {
    // The client repairs it from its own backups.
    return true;
  }
}
