/**
 * Our hooks among others in a client's settings. Claude Code, Codex and Gemini CLI keep them in one form (event, groups with a
 * matcher, commands with a time); what differs is the command that is ours, and the unit of time. Texts in, texts out;
 * everything foreign keeps its bytes and its place.
 */
import type { HookFiles } from "./claude-code/hook-command.ts";
import { type JsonPath, removeIn, setIn } from "./claude-code/settings-text.ts";
import { isSame, listAt, listOf, objectOf, parseSettings, prune, type SettingsFile } from "./json-settings.ts";

export interface HookEntry extends HookFiles {
  event: string;
  matcher: string | undefined;
  /** "" where our running MCP server is asked. */
  command: string;
  /** A process for each event, or the MCP server that runs already. */
  way: "command" | "server";
  /** In the client's unit. */
  timeout: number | undefined;
  /** Of the hook itself: hooks, event, group, hooks, place. */
  path: JsonPath;
  /** Foreign hooks share the group. */
  isMixed: boolean;
}

export interface HookForm extends SettingsFile {
  /** Undefined: not our command. */
  readCommand(command: unknown): HookFiles | undefined;
}

/** What our MCP server is called in a client's settings, and its tool for events. */
const SERVER = "haversack";
const HOOK_TOOL = "hook";

/** A hook that asks our running MCP server; `input`: which fields of the event go along. Their names are the client's own. */
function serverHook(client: string, fields: readonly string[], timeout: number) {
  const input = Object.fromEntries(fields.map((field) => [field, `\${${field}}`]));
  return { type: "mcp_tool" as const, server: SERVER, tool: HOOK_TOOL, timeout, input: { client, ...input } };
}

function isServerHook({ type, server, tool }: Record<string, unknown>): boolean {
  return type === "mcp_tool" && server === SERVER && tool === HOOK_TOOL;
}

/** A line of a client's table: event, matcher, and its time in the client's unit. */
export type HookLine = [event: string, matcher: string | undefined, timeout: number];

/** The table in the form of the settings; `more` is what the client wants in every hook. */
export function groupsOf<More extends object>(table: readonly HookLine[], command: string, more: More) {
  return Object.fromEntries(
    table.map(([event, matcher, timeout]) => [
      event,
      {
        ...(matcher !== undefined && { matcher }),
        hooks: [{ ...more, type: "command" as const, command, timeout }],
      },
    ]),
  );
}

/** The same table, with our running MCP server for the events of `fields`, and with which fields of each. */
export function withServer(
  groups: ReturnType<typeof groupsOf>,
  client: string,
  fields: Readonly<Record<string, readonly string[]>>,
) {
  const asked = Object.entries(groups).map(([event, group]) => {
    const names = fields[event];
    if (!names) return [event, group];
    return [event, { ...group, hooks: group.hooks.map(({ timeout }) => serverHook(client, names, timeout)) }];
  });
  return Object.fromEntries(asked);
}

/** Which way each event goes, for `doctor`. `canAsk`: the installed client's hooks could ask the running server. */
export function waysOf(hooks: readonly Pick<HookEntry, "event" | "way">[], canAsk: boolean): string {
  const of = (way: HookEntry["way"]) => hooks.filter((hook) => hook.way === way).map(({ event }) => event);
  const asked = of("server");
  const faster = canAsk ? "; `haversack init` lets the running MCP server answer, which is faster" : "";
  if (asked.length === 0) return `a process for each event${faster}`;
  return `the running MCP server answers ${asked.join(", ")}; a process each ${of("command").join(", ")}`;
}

/** Our entries in settings of any shape, in the order of the file. */
export function hookEntries(settings: unknown, readCommand: HookForm["readCommand"]): HookEntry[] {
  const found: HookEntry[] = [];
  for (const [event, groups] of Object.entries(objectOf(objectOf(settings)["hooks"]))) {
    for (const [groupAt, group] of listOf(groups).entries()) {
      const { matcher, hooks } = objectOf(group);
      for (const [at, hook] of listOf(hooks).entries()) {
        const { command, timeout } = objectOf(hook);
        const isServer = isServerHook(objectOf(hook));
        const files = isServer ? { node: "", hook: "" } : readCommand(command);
        if (!files) continue;
        found.push({
          ...files,
          event,
          way: isServer ? "server" : "command",
          matcher: typeof matcher === "string" ? matcher : undefined,
          command: isServer ? "" : String(command),
          timeout: typeof timeout === "number" ? timeout : undefined,
          path: ["hooks", event, groupAt, "hooks", at],
          isMixed: listOf(hooks).length > 1,
        });
      }
    }
  }
  return found;
}

/** Exactly this one group of ours for each event: an older one is replaced where it stands, further ones go. */
export function putHooks(text: string, groups: Readonly<Record<string, unknown>>, form: HookForm): string {
  return Object.entries(groups).reduce((result, [event, group]) => putGroup(result, event, group, form), text);
}

export function removeHooks(text: string, form: HookForm, keep: readonly string[]): string {
  let result = text;
  const last = () => hookEntries(parseSettings(result, form), form.readCommand).at(-1);
  for (let own = last(); own; own = last()) {
    result = prune(removeIn(result, own.path), own.path.slice(0, -1), { keep });
  }
  return result;
}

function putGroup(text: string, event: string, group: unknown, form: HookForm): string {
  const settings = parseSettings(text, form);
  const groups = listAt(settings, ["hooks", event], form);
  const own = hookEntries(settings, form.readCommand).filter((hook) => hook.event === event);
  const [first, ...others] = own;
  if (first && others.length === 0 && isSame(groups[Number(first.path[2])], group)) return text;

  let result = text;
  const home = own.find(({ isMixed }) => !isMixed);
  // From the back, so that the places of those before stay what they are.
  for (const { path, isMixed } of own.toReversed()) {
    if (path !== home?.path) result = removeIn(result, isMixed ? path : path.slice(0, 3));
  }
  const now = parseSettings(result, form);
  const place = hookEntries(now, form.readCommand)
    .find((hook) => hook.event === event && !hook.isMixed)
    ?.path.slice(0, 3);
  return setIn(result, place ?? ["hooks", event, listAt(now, ["hooks", event], form).length], group);
}
