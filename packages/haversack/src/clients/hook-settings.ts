/**
 * Edits our hooks in a client's settings. Claude Code, Codex and Gemini CLI use one form (event, groups with a matcher, commands with a
 * timeout); a `HookTable` holds the differences. Works on texts; foreign entries keep their bytes and their place.
 */
import { type ClientName, FACTS } from "./facts.ts";
import {
  emptyAmong,
  isSame,
  listAt,
  listOf,
  type Merged,
  objectOf,
  parseSettings,
  prune,
  type SettingsFile,
} from "./json-settings.ts";
import { type JsonPath, removeIn, setIn } from "./json-text.ts";

export interface HookTable {
  client: ClientName;
  /** Event, matcher, and timeout in the client's unit. */
  lines(
    wishes: Pick<HookWishes, "hasGuards" | "seesOutputs">,
  ): [event: string, matcher: string | undefined, timeout: number][];
  /** The client's unit of time, in milliseconds. */
  unitMs: number;
  /** Extra fields that the client needs in every hook. */
  more?: object;
  /** The events that our running MCP server can answer, each with the fields to send. All names are the client's. */
  asked?(hasGuards: boolean): Readonly<Record<string, readonly string[]>>;
  /** The client accepts comments in the file. Default: false. */
  mayHaveComments?: boolean;
}

export interface HookEntry extends HookFiles {
  event: string;
  matcher: string | undefined;
  /** "" for a hook that asks our running MCP server. */
  command: string;
  /** A process for each event, or the running MCP server. */
  way: "command" | "server";
  /** In the client's unit. */
  timeout: number | undefined;
  /** The path of the hook itself: hooks, event, group, hooks, index. */
  path: JsonPath;
  /** The group also contains foreign hooks. */
  isMixed: boolean;
}

/** The name of our MCP server in a client's settings, and its tool for events. */
const SERVER = "haversack";
const HOOK_TOOL = "hook";

interface HookGroup {
  matcher?: string;
  hooks: Record<string, unknown>[];
}

/** The hooks by event, as settings and a package's hooks.json need them. `asksServer`: use the server for the events it can answer. */
export function hookGroups(table: HookTable, command: string, { asksServer = false, ...wishes }: HookWishes) {
  const asked = (asksServer && table.asked?.(wishes.hasGuards)) || {};
  const group = ([event, matcher, timeout]: ReturnType<HookTable["lines"]>[number]): [string, HookGroup] => {
    const fields = asked[event]?.map((field) => [field, `\${${field}}`]);
    const input = fields && { client: table.client, ...Object.fromEntries(fields) };
    const hook = input
      ? { type: "mcp_tool", server: SERVER, tool: HOOK_TOOL, timeout, input }
      : { ...table.more, type: "command", command, timeout };
    return [event, { ...(matcher !== undefined && { matcher }), hooks: [hook] }];
  };
  return Object.fromEntries(table.lines(wishes).map(group));
}

export interface HookWishes {
  /** Rules guard files, so edits must be seen beforehand. */
  hasGuards: boolean;
  /** Long outputs are replaced, so those of MCP tools must be seen. Default: false. */
  seesOutputs?: boolean;
  /** Default: false. */
  asksServer?: boolean;
}

export function mergeHooks(
  table: HookTable,
  text: string,
  { file, node, hook, ...wishes }: HookFiles & HookWishes & { file: string },
): Merged {
  const before = readSettings(table, text, file);
  const paths = [["hooks"], ...table.lines({ hasGuards: true }).map(([event]) => ["hooks", event])];
  const keep = ownHooks(table.client, before).length === 0 ? emptyAmong(before, paths) : [];
  const groups = Object.entries(hookGroups(table, hookCommand(table.client, { node, hook }), wishes));
  return {
    text: groups.reduce((result, [event, group]) => putGroup(table, result, { event, group, file }), text),
    keep,
  };
}

export function unmergeHooks(
  table: HookTable,
  text: string,
  { file, keep }: { file: string; keep: readonly string[] },
): string {
  let result = text;
  const last = () => ownHooks(table.client, readSettings(table, result, file)).at(-1);
  for (let own = last(); own; own = last()) {
    result = prune(removeIn(result, own.path), own.path.slice(0, -1), { keep });
  }
  return result;
}

/** Settings as an object, or a fault that names the file. */
export function readSettings(table: HookTable, text: string, file: string): Record<string, unknown> {
  return parseSettings(text, formOf(table, file));
}

export function formOf({ client, mayHaveComments = false }: HookTable, file: string): SettingsFile {
  const hint = `${FACTS[client].title} cannot read it either; correct it, then run this again`;
  return { file, hint, mayHaveComments };
}

/** Our entries in settings of any shape, in file order. */
export function ownHooks(client: string, settings: unknown): HookEntry[] {
  return allHooks(settings).flatMap(({ hook: { type, server, tool, command, timeout }, ...place }) => {
    const isServer = type === "mcp_tool" && server === SERVER && tool === HOOK_TOOL;
    const files = isServer ? { node: "", hook: "" } : readHookCommand(client, command);
    if (!files) return [];
    return [
      {
        ...place,
        ...files,
        way: isServer ? "server" : "command",
        command: isServer ? "" : String(command),
        timeout: typeof timeout === "number" ? timeout : undefined,
      },
    ];
  });
}

/** Every hook, ours or not. */
export function allHooks(settings: unknown) {
  return Object.entries(objectOf(objectOf(settings)["hooks"])).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group, groupAt) => {
      const { matcher, hooks } = objectOf(group);
      return listOf(hooks).map((hook, at) => ({
        event,
        hook: objectOf(hook),
        matcher: typeof matcher === "string" ? matcher : undefined,
        path: ["hooks", event, groupAt, "hooks", at] as JsonPath,
        isMixed: listOf(hooks).length > 1,
      }));
    }),
  );
}

/** Which way each event goes, for `doctor`. `canAsk`: the installed client's hooks can ask the running server. */
export function waysOf(hooks: readonly Pick<HookEntry, "event" | "way">[], canAsk: boolean): string {
  const of = (way: HookEntry["way"]) => hooks.filter((hook) => hook.way === way).map(({ event }) => event);
  const asked = of("server");
  const faster = canAsk ? "; `haversack init` lets the running MCP server answer, which is faster" : "";
  if (asked.length === 0) return `a process for each event${faster}`;
  return `the running MCP server answers ${asked.join(", ")}; a process each ${of("command").join(", ")}`;
}

/** Leaves exactly one group of ours for the event: replaces an older one in place and removes the others. */
function putGroup(
  table: HookTable,
  text: string,
  { event, group, file }: { event: string; group: HookGroup; file: string },
): string {
  const form = formOf(table, file);
  const settings = parseSettings(text, form);
  const ownIn = (value: unknown) => ownHooks(table.client, value).filter((hook) => hook.event === event);
  const groups = listAt(settings, ["hooks", event], form);
  const own = ownIn(settings);
  const [first, ...others] = own;
  if (first && others.length === 0 && isSame(groups[Number(first.path[2])], group)) return text;

  let result = text;
  const home = own.find(({ isMixed }) => !isMixed);
  // Backwards, so earlier indexes stay valid.
  for (const { path, isMixed } of own.toReversed()) {
    if (path !== home?.path) result = removeIn(result, isMixed ? path : path.slice(0, 3));
  }
  const now = parseSettings(result, form);
  const place = ownIn(now)
    .find(({ isMixed }) => !isMixed)
    ?.path.slice(0, 3);
  return setIn(result, place ?? ["hooks", event, listAt(now, ["hooks", event], form).length], group);
}

export interface HookFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of hook.cjs. */
  hook: string;
}

/**
 * The shell command of a hook, as `init` writes it. The guard keeps it silent when the runtime or our file is gone. Without it, Claude Code
 * and Codex show two error lines at every event, and Gemini CLI takes exit code 127 for a refusal of the prompt (seen in 0.61.0). We
 * recognize our own entries by this form. It has no dollar sign, because Gemini CLI expands variables in its settings.
 */
export function hookCommand(client: string, { node, hook }: HookFiles): string {
  const [program, file] = [node, hook].map(quoteShell);
  return `[ -x ${program} ] && [ -f ${file} ] || exit 0; exec ${program} ${file} ${client}`;
}

/** The paths in one of our commands, from any runtime and version; undefined for any other command. */
export function readHookCommand(client: string, command: unknown): HookFiles | undefined {
  const [, program = "", file = "", name] = (typeof command === "string" && OWN.exec(command)) || [];
  const hook = unquoteShell(file);
  return name === client && hook.endsWith("hook.cjs") ? { node: unquoteShell(program), hook } : undefined;
}

const WORD = String.raw`(?:'[^']*'|\\')+`;
const OWN = new RegExp(`^\\[ -x (${WORD}) \\] && \\[ -f (${WORD}) \\] \\|\\| exit 0; exec \\1 \\2 ([a-z-]+)$`);

/** Quotes any text as one word for a POSIX shell. */
function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function unquoteShell(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, plain: string | undefined) => plain ?? "'");
}
