/** Our MCP server: its entry in a client's JSON settings, and how the client starts it. Works on texts; foreign entries keep their bytes. */
import { HaversackError } from "../base/errors.ts";
import {
  emptyAmong,
  isSame,
  listOf,
  type Merged,
  objectOf,
  parseSettings,
  prune,
  type SettingsFile,
  valueAt,
} from "./json-settings.ts";
import { type JsonPath, removeIn, setIn } from "./json-text.ts";

export const SERVER = "haversack";

/** `path`: the object that holds the servers. */
export interface ServerPlace {
  form: SettingsFile;
  path: JsonPath;
}

/** `defaults`: extra fields of a new entry. `shownBy`: the client's command that lists the servers. */
export function mergeServerEntry(
  text: string,
  { form, path }: ServerPlace,
  { defaults, shownBy, ...files }: ServerFiles & { defaults: object; shownBy: string },
): Merged {
  const settings = parseSettings(text, form);
  const before = serverEntry(settings, path);
  if (before && !isOwnCommand(commandOf(before))) throw nameTaken(form.file, shownBy);
  const entry = serverCommand(files);
  const isUnchanged = before?.["command"] === entry.command && isSame(before["args"], entry.args);
  const containers = path.map((_, at) => path.slice(0, at + 1));
  return {
    // Fields that the user added or changed, such as `"trust": false`, stay.
    text: isUnchanged ? text : setIn(text, [...path, SERVER], { ...defaults, ...before, ...entry }),
    keep: before ? [] : emptyAmong(settings, containers),
  };
}

export function unmergeServerEntry(text: string, { form, path }: ServerPlace, keep: readonly string[]): string {
  const entry = serverEntry(parseSettings(text, form), path);
  if (!entry || !isOwnCommand(commandOf(entry))) return text;
  return prune(removeIn(text, [...path, SERVER]), path, { keep });
}

/** The entry with our name, whether it is ours or not. */
export function serverEntry(settings: unknown, path: JsonPath): Record<string, unknown> | undefined {
  const value = valueAt(settings, [...path, SERVER]);
  return value === undefined ? undefined : objectOf(value);
}

export function commandOf({ command, args }: Record<string, unknown>): ServerCommand {
  return { command: String(command), args: listOf(args).map(String) };
}

export function nameTaken(file: string, shownBy: string): HaversackError {
  return new HaversackError("refused", `${file}: another MCP server is called "${SERVER}" already`, {
    hint: `rename or remove it: \`${shownBy}\` shows it`,
  });
}

export interface ServerFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of haversack.cjs. */
  bin: string;
}

export interface ServerCommand {
  command: string;
  args: string[];
}

/**
 * How the client starts our MCP server: through a shell script that answers itself if the runtime or our file is gone. A server
 * that does not start costs about 136 tokens in every session, because the client tells the model; an empty server costs none.
 */
export function serverCommand({ node, bin }: ServerFiles): ServerCommand {
  return { command: "/bin/sh", args: ["-c", GUARD, node, bin, "mcp"] };
}

/** The command that the guard runs. A command without the guard is returned unchanged. */
export function unguarded({ command, args }: ServerCommand): ServerCommand {
  const [flag, , program, ...rest] = args;
  return flag === "-c" && program !== undefined ? { command: program, args: rest } : { command, args };
}

/** True for any version of our command. Another program may have a server of our name. */
export function isOwnCommand(entry: ServerCommand): boolean {
  const { args } = unguarded(entry);
  return args.length === 2 && /haversack\.cjs$/.test(args[0] ?? "") && args[1] === "mcp";
}

/**
 * Answers `initialize` with the client's own protocol version and no capabilities, `tools/list` (which Codex sends anyway) with no tools,
 * `tools/call` with the empty answer to an event, and any other request with an empty result.
 *
 * A message is split at `,{}`. Quotes inside a string are escaped, so a part that begins with `"id":` is a key. The parameters may have
 * such keys too: if the request's id comes before them, later ids are ignored; else the last id is the request's. No brace may
 * follow a dollar sign: the client would expand a variable.
 */
const GUARD = [
  '[ -x "$0" ] && [ -f "$1" ] && exec "$0" "$@"; set -f; IFS=,{}; while IFS= read -r line; do id=; has=; own=; seen=;',
  `for part in $line; do case $part in '"params":') [ "$seen" ] || own=$id; seen=1;; '"id":'*) [ "$own" ] || id=$part;;`,
  `'"protocolVersion":'*) [ "$has" ] || has=$part',"capabilities":{},"serverInfo":{"name":"haversack","version":"0"}';;`,
  `'"method":"tools/list"') [ "$has" ] || has='"tools":[]';;`,
  `'"method":"tools/call"') [ "$has" ] || has='"content":[{"type":"text","text":"{}"}]';; esac; done;`,
  `[ -z "$id" ] || printf '{"jsonrpc":"2.0",%s,"result":{%s}}\\n' "$id" "$has"; done`,
].join(" ");
