/**
 * Deferred skills through Codex's own `[[skills.config]]` in the user's config.toml, by the path of the skill's file (seen in 0.166.0: such
 * a skill is not listed, and `$name` brings nothing; by a folder's path nothing happens, and in a project's config.toml
 * neither). Texts in, texts out; every foreign byte stays. The client cannot list a name without its description.
 */
import { HaversackError } from "../../base/errors.ts";
import type { DeferChange } from "../../engine/wiring.ts";
import { quote } from "./config-server.ts";
import { simpleValue, type TomlStatement, tomlStatements } from "./toml-statements.ts";

/** `own` holds the entries that are ours already; one that a person made stays theirs. */
export function disableSkills(
  text: string,
  paths: readonly string[],
  { file, own }: { file: string; own: Readonly<Record<string, string>> },
): DeferChange {
  refuseOtherForm(text, file);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const isOpen = text !== "" && !text.endsWith("\n");
  const change: DeferChange = { text, own: {}, foreign: [], keep: isOpen ? [NO_BREAK] : [] };
  const before = new Map(entriesOf(text).map((entry) => [entry.skillPath, entry]));
  for (const path of paths) {
    const found = before.get(path);
    if (found && own[path] === undefined) {
      change.foreign.push({ key: path, value: `enabled = ${found.isEnabled}` });
      continue;
    }
    change.own[path] = VALUE;
    if (found) continue;
    const gap = change.text === "" ? "" : change.text.endsWith("\n") ? lineBreak : lineBreak + lineBreak;
    const lines = ["[[skills.config]]", `path = ${quote(path)}`, "enabled = false", ""];
    change.text += gap + lines.join(lineBreak);
  }
  return change;
}

/** Takes out the entries that are ours and still as we wrote them. */
export function enableSkills(
  text: string,
  own: Readonly<Record<string, string>>,
  { keep }: { keep: readonly string[] },
): string {
  let result = text;
  for (const { skillPath, isPlain, isEnabled, start, end } of entriesOf(text).toReversed()) {
    if (skillPath === undefined || own[skillPath] === undefined || !isPlain || isEnabled) continue;
    // One empty line before it is ours as well.
    const before = result.slice(0, start).replace(/(\r?\n)\r?\n$/, "$1");
    const isLast = result.slice(end).trim() === "";
    const head = isLast && keep.includes(NO_BREAK) ? before.replace(/\r?\n$/, "") : before;
    result = head + result.slice(end);
  }
  return result;
}

const VALUE = "disabled";
const NO_BREAK = "no-line-break-at-the-end";

interface SkillEntry {
  skillPath: string | undefined;
  isEnabled: boolean;
  /** Nothing in it but what we write. */
  isPlain: boolean;
  start: number;
  /** Behind the line break of its last line. */
  end: number;
}

function entriesOf(text: string): SkillEntry[] {
  const groups: TomlStatement[][] = [];
  let group: TomlStatement[] | undefined;
  for (const statement of tomlStatements(text)) {
    if (statement.kind !== "key") {
      group = statement.kind === "list-table" && statement.path.join(".") === LIST ? [] : undefined;
      if (group) groups.push(group);
    }
    group?.push(statement);
  }
  return groups.map((statements) => {
    const [header, ...keys] = statements;
    const values = new Map(keys.map(({ path, value }) => [path.slice(2).join("."), simpleValue(value)]));
    const skillPath = values.get("path");
    const lineBreak = text.indexOf("\n", statements.at(-1)!.end);
    return {
      skillPath: typeof skillPath === "string" ? skillPath : undefined,
      isEnabled: values.get("enabled") !== "false",
      isPlain: keys.length === 2 && values.has("enabled"),
      start: header!.start,
      end: lineBreak < 0 ? text.length : lineBreak + 1,
    };
  });
}

const LIST = "skills.config";

/** `skills = { … }` or `config = [ … ]`: a table behind it would make the whole file an error, and Codex would not start. */
function refuseOtherForm(text: string, file: string): void {
  const isOther = tomlStatements(text).some(
    ({ kind, path }) =>
      kind !== "list-table" && (path.join(".") === LIST || (kind === "key" && path.join(".") === "skills")),
  );
  if (!isOther) return;
  throw new HaversackError("input-invalid", `${file}: skills.config is written in a form that cannot be added to`, {
    hint: "write it as [[skills.config]] tables, one for each skill, then run this again",
  });
}
