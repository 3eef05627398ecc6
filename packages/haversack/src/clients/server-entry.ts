/** Our MCP server's entry in a client's JSON settings. Works on texts; foreign entries keep their bytes. */
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
import { isOwnCommand, type ServerCommand, type ServerFiles, serverCommand } from "./server-guard.ts";

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
