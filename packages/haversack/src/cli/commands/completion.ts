import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Call, type CommandEntry, defineCommand, option } from "../command.ts";
import { allOptions } from "../parse.ts";
import { openProject } from "../project.ts";
import { openSkills } from "../skills.ts";
import { COMMANDS, namesOf } from "../table.ts";
import { openWork } from "../work.ts";

// The IDs and names that shells complete, read from the project when the user presses Tab.

interface Named {
  name: string;
  about: string;
}

type List = (call: Call) => Promise<Named[]> | Named[];

/** A shell shows no more than this with profit. */
const LIMIT = 300;

const named = ({ id, title }: { id: string; title: string }): Named => ({ name: id, about: title });

const LISTS: Readonly<Record<string, List>> = {
  tasks: async (call) => {
    const { store, by } = await openWork(call, "read");
    return (await store.listTasks({ limit: LIMIT, at: by.at })).items.map(named);
  },
  epics: async (call) => (await (await openWork(call, "read")).store.listEpics({ limit: LIMIT })).items.map(named),
  stories: async (call) => (await (await openWork(call, "read")).store.listStories({ limit: LIMIT })).items.map(named),
  agents: async (call) =>
    (await (await openWork(call, "read")).store.listAgents()).map(({ name, role = "" }) => ({ name, about: role })),
  runs: async (call) => {
    const runs = await (await openWork(call, "read")).runs.listRuns({ limit: LIMIT });
    return runs.map(({ id, state, client }) => ({ name: id, about: `${state}, ${client}` }));
  },
  skills: (call) =>
    openSkills(call)
      .index.listCards()
      .map(({ id, brief }) => ({ name: id, about: brief })),
  sessions: (call) =>
    new SqliteLocalStore(openProject(call, { access: "look" }).handle)
      .listSessions({ limit: LIMIT })
      .map(({ sessionId, client }) => ({ name: sessionId, about: client })),
};

const KINDS = Object.keys(LISTS);

export const command = defineCommand({
  about:
    "Prints a completion script for your shell. It completes commands, options, their values, files, and the IDs and names of this project.",
  arguments: [{ name: "SHELL", about: "bash, zsh or fish", choices: ["bash", "zsh", "fish"] }],
  options: {
    list: option("KIND", "Print the names of one kind instead, as the script does when you press Tab.", {
      choices: KINDS,
    }),
  },
  examples: {
    "haversack completion bash >> ~/.bashrc": "bash",
    "haversack completion zsh > ~/.zsh/completions/_haversack": "zsh, for a folder on your fpath",
    "haversack completion fish > ~/.config/fish/completions/haversack.fish": "fish",
  },
  json: "{shell, script}, with --list [{name, about}].",
  async run(call) {
    const [shell] = call.arguments;
    const { list: kind } = call.options;
    if ((shell === undefined) === (kind === undefined))
      throw new HaversackError("usage", shell === undefined ? "SHELL is missing" : "give SHELL or --list, not both");
    if (shell === undefined) {
      const names = await listNames(kind ?? "", call);
      return { data: names, text: names.map(({ name, about }) => `${name}\t${about}`).join("\n"), isVerbatim: true };
    }
    const writers: Record<string, (known: readonly Known[]) => string> = { bash, zsh, fish };
    const write = writers[shell];
    if (!write) throw new HaversackError("usage", `there is no completion for "${shell}", only for bash, zsh and fish`);
    const commands = (await Promise.all(COMMANDS.map(describe))).flat();
    const help = { name: "help", summary: "Show a family, or every command", options: [], takesFiles: false };
    const known = [...commands, { ...help, choices: [...wordTree(commands).keys(), "all"] }];
    // `config set` must come before `config`, which would match both.
    const script = write(known.sort((a, b) => wordsIn(b.name) - wordsIn(a.name)));
    return { data: { shell, script }, text: script, isVerbatim: true };
  },
});

interface Known {
  name: string;
  summary: string;
  /** Possible values of the first argument, if known. */
  choices: readonly string[];
  /** An argument is a file or a folder. */
  takesFiles: boolean;
  /** What the arguments are names of: see list-names.ts. */
  kind?: string;
  options: { name: string; about: string; takesValue: boolean; choices: readonly string[]; kind?: string }[];
}

function wordsIn(name: string): number {
  return name.split(" ").length;
}

/** A command under each of its names, except those of earlier versions. */
async function describe(entry: CommandEntry): Promise<Known[]> {
  const { short, isDefault, summary, load } = entry;
  const names = namesOf(entry);
  const [first = ""] = names;
  const others = [...(short ? [short] : []), ...(isDefault ? [first.split(" ")[0] ?? ""] : [])];
  return Promise.all(
    [...names, ...others].map(async (name) => {
      const fullName = others.includes(name) ? first : name;
      const { spec: known } = await load(fullName);
      const options = Object.entries(allOptions(known)).map(([option, { about, type, choices = [] }]) => {
        const kind = type === "boolean" || choices.length > 0 ? undefined : OF_OPTION[option];
        return { name: option, about, takesValue: type !== "boolean", choices, ...(kind && { kind }) };
      });
      const takesFiles = known.arguments?.some((argument) => FILES.has(argument.name)) ?? false;
      const kind = kindOfArgument(fullName, known.arguments?.[0]?.name ?? "");
      const choices = known.arguments?.[0]?.choices ?? [];
      return { name, summary, choices, takesFiles, ...(kind && { kind }), options };
    }),
  );
}

/** Names of arguments that are files. */
const FILES: ReadonlySet<string> = new Set(["FILE", "FOLDER", "PATH"]);

/** The first words, and the second words for each of them. */
function wordTree(known: readonly Known[]): Map<string, string[]> {
  const tree = new Map<string, string[]>();
  for (const { name } of known) {
    const [first = "", second] = name.split(" ");
    tree.set(first, [...(tree.get(first) ?? []), ...(second ? [second] : [])]);
  }
  return tree;
}

function choicesOf(name: string, known: readonly Known[]): readonly string[] {
  return known.find((command) => command.name === name)?.choices ?? [];
}

function bash(known: readonly Known[]): string {
  const tree = wordTree(known);
  const seconds = [...tree]
    .map(([first, words]) => [first, [...words, ...choicesOf(first, known)]] as const)
    .filter(([, words]) => words.length > 0);
  const withChoices = known.filter(({ choices }) => choices.length > 0);
  const all = known.flatMap(({ name, options }) => options.map((option) => ({ ...option, command: name })));
  // Commands often share an option with its values, so that they share a line.
  const values = Map.groupBy(all, ({ choices }) => choices.join(" "));
  const optionKinds = Map.groupBy(all, ({ kind }) => kind);
  const kinds = Map.groupBy(known, ({ kind }) => kind);
  const lines = <One>(groups: Map<string | undefined, One[]>, pattern: (one: One) => string, variable: string) =>
    [...groups]
      .filter(([value]) => value)
      .map(([value, members]) => `      ${members.map(pattern).join("|")}) ${variable}="${value}" ;;`)
      .join("\n");
  const ofOption = ({ command, name }: { command: string; name: string }) =>
    `"${command}${command.includes(" ") ? "" : ' "*"'} --${name}"`;
  const ofCommand = ({ name }: Known) => `"${name}${name.includes(" ") ? '"' : ' "*'}`;
  const flags = (options: Known["options"]) => options.map(({ name }) => `--${name}`).join(" ");
  return `# bash completion for haversack
_haversack() {
  local word="\${COMP_WORDS[COMP_CWORD]}" one="\${COMP_WORDS[1]}" two="\${COMP_WORDS[2]}"
  local before="\${COMP_WORDS[COMP_CWORD-1]}" words="" names=""
  # bash splits --option=value at the sign.
  if [ "$word" = "=" ]; then word=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${[...tree.keys()].join(" ")} --help --version"
  elif [ "$COMP_CWORD" -eq 2 ] && [[ "$word" != -* ]]; then
    case "$one" in
${seconds.map(([first, words]) => `      ${first}) words="${words.join(" ")}" ;;`).join("\n")}
    esac
  elif [ "$COMP_CWORD" -eq 3 ] && [[ "$word" != -* ]]; then
    case "$one $two" in
${withChoices
  .filter(({ name }) => name.includes(" "))
  .map(({ name, choices }) => `      "${name}") words="${choices.join(" ")}" ;;`)
  .join("\n")}
    esac
  fi
  if [[ "$word" == -* ]] && [ "$COMP_CWORD" -gt 1 ]; then
    case "$one $two" in
${known.map(({ name, options }) => `      "${name}"${name.includes(" ") ? "" : '" "*'}) words="${flags(options)}" ;;`).join("\n")}
    esac
  fi
  if [[ "$before" == --* ]]; then
    case "$one $two $before" in
${lines(values, ofOption, "words")}
${lines(optionKinds, ofOption, "names")}
    esac
  elif [[ "$word" != -* ]] && [ -z "$words" ] && [ "$COMP_CWORD" -gt 1 ]; then
    case "$one $two" in
${lines(kinds, ofCommand, "names")}
    esac
  fi
  if [ -n "$names" ]; then words="$("\${COMP_WORDS[0]}" completion --list "$names" 2>/dev/null | cut -f1)"; fi
  if [ -n "$words$names" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _haversack haversack
`;
}

function zshValue({ takesValue, choices, kind }: Known["options"][number]): string {
  if (choices.length > 0) return `:value:(${choices.join(" ")})`;
  if (kind) return `:${kind}:_haversack_names ${kind}`;
  return takesValue ? ":value:_files" : "";
}

function zsh(known: readonly Known[]): string {
  const quote = (text: string) => text.replace(/[\\':[\]]/g, (found) => (found === "'" ? "'\\''" : `\\${found}`));
  const tree = wordTree(known);
  const summaryOf = (name: string) => known.find((command) => command.name === name)?.summary;
  return `#compdef haversack
_haversack_names() {
  # \`_arguments\` puts options of its own before the kind.
  local kind=\${@[-1]}
  local -a found
  found=(\${(f)"$(haversack completion --list $kind 2>/dev/null)"})
  found=("\${(@)found//:/\\\\:}")
  found=("\${(@)found/$'\\t'/:}")
  _describe -t $kind $kind found
}
_haversack() {
  # \`words\` is the shell's own array: a local one of that name would hide what was typed.
  local -a firsts
  if (( CURRENT == 2 )); then
    firsts=(${[...tree].map(([first, seconds]) => `'${first}:${quote(summaryOf(first) ?? seconds.join(", "))}'`).join(" ")})
    _describe command firsts
    return
  fi
  if (( CURRENT == 3 )) && [[ $words[CURRENT] != -* ]]; then
    case $words[2] in
${[...tree]
  .filter(([, seconds]) => seconds.length > 0)
  .map(
    ([first, seconds]) =>
      `      ${first}) local -a seconds; seconds=(${seconds.map((second) => `'${second}:${quote(summaryOf(`${first} ${second}`) ?? "")}'`).join(" ")}${choicesOf(
        first,
        known,
      )
        .map((choice) => ` '${choice}'`)
        .join("")}); _describe command seconds; return ;;`,
  )
  .join("\n")}
    esac
  fi
  case "$words[2] $words[3]" in
${known
  .map(
    ({ name, options, choices, kind }) =>
      `    '${name}'${name.includes(" ") ? "" : "' '*"}) _arguments ${options.map((option) => `'--${option.name}${option.takesValue ? "=" : ""}[${quote(option.about)}]${zshValue(option)}'`).join(" ")}${choices.length > 0 ? ` '${wordsIn(name) + 1}:value:(${choices.join(" ")})'` : ""} '*:${kind ? `${kind}:_haversack_names ${kind}` : "file:_files"}' ;;`,
  )
  .join("\n")}
  esac
}
# zsh runs this file for the first completion if it is on the fpath. If it is sourced, it only registers the function.
if [[ $funcstack[1] == _haversack ]]; then _haversack "$@"; else compdef _haversack haversack; fi
`;
}

function fish(known: readonly Known[]): string {
  const quote = (text: string) => text.replace(/[\\']/g, (found) => `\\${found}`);
  const tree = wordTree(known);
  const lines = ["# fish completion for haversack", "complete -c haversack -f"];
  for (const [first, seconds] of tree) {
    const summary = known.find(({ name }) => name === first)?.summary ?? seconds.join(", ");
    lines.push(`complete -c haversack -n __fish_use_subcommand -a '${first}' -d '${quote(summary)}'`);
  }
  const names = (kind: string) => `(haversack completion --list ${kind} 2>/dev/null)`;
  for (const { name, summary, options, choices, takesFiles, kind } of known) {
    const [first, second] = name.split(" ");
    if (second) {
      const siblings = tree.get(first ?? "")?.join(" ");
      lines.push(
        `complete -c haversack -n '__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${siblings}' -a '${second}' -d '${quote(summary)}'`,
      );
    }
    const seen = [
      `__fish_seen_subcommand_from ${first}`,
      ...(second ? [`__fish_seen_subcommand_from ${second}`] : []),
    ].join("; and ");
    if (choices.length > 0) lines.push(`complete -c haversack -n '${seen}' -a '${choices.join(" ")}'`);
    if (takesFiles) lines.push(`complete -c haversack -n '${seen}' -F`);
    if (kind) lines.push(`complete -c haversack -n '${seen}' -a '${names(kind)}'`);
    for (const option of options) {
      const { choices: values, takesValue, kind: valueKind } = option;
      const given = valueKind ? names(valueKind) : values.join(" ");
      const value = given ? ` -x -a '${given}'` : takesValue ? " -r" : "";
      lines.push(`complete -c haversack -n '${seen}' -l '${option.name}'${value} -d '${quote(option.about)}'`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Names with a blank cannot be completed without quotes, so they are left out. */
async function listNames(kind: string, call: Call): Promise<Named[]> {
  const found = (await LISTS[kind]?.(call)) ?? [];
  return found
    .filter(({ name }) => /^[\w@:./+-]+$/.test(name))
    .map(({ name, about }) => ({ name, about: cleanLine(about) }));
}

const OF_ARGUMENT: Readonly<Record<string, string>> = {
  TASK: "tasks",
  EPIC: "epics",
  STORY: "stories",
  AGENT: "agents",
  "@AGENT… TEXT": "agents",
  RUN: "runs",
};

function kindOfArgument(command: string, argument: string): string | undefined {
  if (argument === "NAME" && /^skill (?:show|check|defer|undefer)$/.test(command)) return "skills";
  if (argument === "ID" && command === "session reset") return "sessions";
  return OF_ARGUMENT[argument];
}

/** Which names an option takes as its value. */
const OF_OPTION: Readonly<Record<string, string>> = {
  task: "tasks",
  parent: "tasks",
  "depends-on": "tasks",
  add: "tasks",
  rm: "tasks",
  epic: "epics",
  story: "stories",
  agent: "agents",
  assignee: "agents",
  skill: "skills",
  session: "sessions",
};
