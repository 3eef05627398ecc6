/**
 * Every command: the words typed, one line about it, and the file to load when it is called. Dispatch, help, completion and the reference
 * page use this table.
 */
import type { Command, CommandEntry } from "./command.ts";

/** A file with one command, or with several by name. */
type CommandFile = () => Promise<{ command: Command } | { commands: Readonly<Record<string, Command>> }>;

const agent: CommandFile = () => import("./commands/agent.ts");
const artifacts: CommandFile = () => import("./commands/artifacts.ts");
const claim: CommandFile = () => import("./commands/claim.ts");
const config: CommandFile = () => import("./commands/config.ts");
const defer: CommandFile = () => import("./commands/skills-defer.ts");
const groups: CommandFile = () => import("./commands/group.ts");
const handoff: CommandFile = () => import("./commands/handoff.ts");
const message: CommandFile = () => import("./commands/message.ts");
const moves: CommandFile = () => import("./commands/import-export.ts");
const onOff: CommandFile = () => import("./commands/on-off.ts");
const review: CommandFile = () => import("./commands/review.ts");
const runs: CommandFile = () => import("./commands/runs.ts");
const session: CommandFile = () => import("./commands/session.ts");
const skills: CommandFile = () => import("./commands/skills.ts");
const status: CommandFile = () => import("./commands/task-status.ts");
const store: CommandFile = () => import("./commands/store.ts");
const team: CommandFile = () => import("./commands/store-team.ts");
const task: CommandFile = () => import("./commands/task.ts");
const workflow: CommandFile = () => import("./commands/workflow.ts");

/** In the order of `haversack help`. */
export const COMMANDS: readonly CommandEntry[] = [
  ...group("Set up", [
    entry("init", "Connect Haversack to the coding clients found here", () => import("./commands/init.ts")),
    entry("uninstall", "Remove exactly what init wrote", () => import("./commands/uninstall.ts")),
    entry("doctor", "Check everything and say how to fix it", () => import("./commands/doctor.ts")),
    entry("on|off", "Switch Haversack on or off", onOff),
    entry("trust", "Accept what a cloned project brings along", () => import("./commands/trust.ts")),
    entry("config list|get|set|unset", "Show, change or remove settings", config, { isDefault: true }),
  ]),
  ...group("Work", [
    entry("status", "Show where the work stands, on one screen", () => import("./commands/status.ts")),
    entry("task create|update", "Create a task, or change fields of tasks", task),
    entry("task list|show", "List tasks, also as a tree, or show some in full", task),
    entry("task next", "List the tasks that are ready, in order", () => import("./commands/next.ts"), {
      short: "next",
    }),
    entry("task claim|release|heartbeat", "Claim tasks, give them back, or keep them", claim, { short: "claim" }),
    entry("task done|review|reopen|archive|unblock", "Set the status of tasks", status, { short: "done" }),
    entry("task block", "Mark tasks as blocked, with the reason", status),
    entry("task dep", "Show or change what a task waits for", () => import("./commands/dependency.ts")),
    entry("task log", "Show what happened, newest first", () => import("./commands/activity.ts")),
    entry("epic|story create|update|list|show", "Create, change, list or show epics and stories", groups),
    entry("wip", "Show or add to the work in progress", () => import("./commands/wip.ts")),
    entry("handoff set|list|show", "Store the results of tasks, list or show them", handoff),
    entry("handoff decay|restore", "Archive results of completed work, or restore them", handoff),
    entry("import", "Import a plan, an export or tasks of another tool", moves),
    entry("export", "Write all work as JSON lines", moves),
  ]),
  ...group("Runs", [
    entry("work", "Work through the queue headless, session after session", () => import("./commands/run.ts")),
    entry("runs list|show|follow|stop|drain", "List, show, watch or stop runs, or drain a machine", runs),
    entry("metrics", "Show how well runs go", runs),
    entry("top", "Watch sessions, claims and runs in the terminal", () => import("./commands/top.ts")),
    entry("board", "Show work, runs and skills on a local web page", () => import("./commands/board.ts")),
  ]),
  ...group("Agents", [
    entry("agent add|rm", "Name an agent and its role, or remove agents", agent),
    entry("agent list|show", "List agents, or show their tasks and skills", agent),
    entry("agent wake", "Print what an agent needs to continue", message, { short: "wake" }),
    entry("agent prompt", "Wake an agent with a message", message),
    entry("agent message|inbox", "Send a message to agents, or read an agent's messages", message),
    entry("workflow list|add", "List example workflows, or copy their skills here", workflow, { isDefault: true }),
  ]),
  ...group("Reviews", [
    entry("review dispatch", "Print the prompt for a role's sub-agent", review),
    entry("review record|show|decide", "Record a review, show reviews, or accept an open issue", review),
    entry("review receipts", "Show which documents were not read", review),
    entry("artifacts refs|section", "Print what a role must read, or one section of a file", artifacts),
    entry("artifacts init|check", "Write a role map to start from, or check it", artifacts),
  ]),
  ...group("Skills", [
    entry("skill list|show|search", "List, print or find skills", skills),
    entry("skill why", "Explain what was added to a session", () => import("./commands/why.ts"), { short: "why" }),
    entry("skill check", "Check the skills for mistakes", skills),
    entry("skill stats", "Show what was recommended, used, and its cost", skills),
    entry("skill learned", "Show or forget what was learned from use", skills),
    entry("skill defer|undefer", "Hide skills from the clients' listings", defer),
    entry("skill new", "Create a skill in the right shape", skills),
    entry("skill eval", "Measure how well prompts find skills", () => import("./commands/skills-eval.ts")),
    entry("skill index", "Rebuild the index", () => import("./commands/skills-index.ts")),
    entry("rules check", "Check a skill-rules.json", skills),
  ]),
  ...group("State", [
    entry("session list|reset", "List sessions, or forget what they were shown", session),
    entry("store use|migrate|status|member", "Share the work with a team: where, how, and with whom", team),
    entry("store conflicts", "Show what the shared store refused", team),
    entry("store backup|restore|check|purge", "Copy, restore or check the store, or remove old local state", store),
    entry("recall", "Print a part of a kept tool output", () => import("./commands/recall.ts")),
    entry("usage", "Show the tokens added per session", () => import("./commands/usage.ts")),
    entry("audit", "Show what filled the windows of past sessions", () => import("./commands/audit.ts")),
    entry("replay", "Replay hook payloads or a transcript", () => import("./commands/replay.ts")),
    entry("log", "Show what Haversack logged here", () => import("./commands/log.ts")),
  ]),
  ...group("Scripts", [
    entry("mcp", "Run the MCP server", () => import("./commands/mcp.ts")),
    entry("discover", "Print what a prompt would add for the model", () => import("./commands/discover.ts")),
    entry("context", "Print what a session has been shown, as JSON", session),
    entry("completion", "Print a completion script for your shell", () => import("./commands/completion.ts")),
  ]),
];

/** Names of earlier versions. They still work, and print the new name. */
export const OLD_NAMES: Readonly<Record<string, OldName>> = {
  ...renamed("skills", "skill", [
    "list",
    "show",
    "search",
    "check",
    "stats",
    "defer",
    "undefer",
    "new",
    "eval",
    "index",
  ]),
  release: { now: "task release" },
  heartbeat: { now: "task heartbeat" },
  activity: { now: "task log" },
  "task start": { now: "task claim" },
  tree: { now: "task list --tree" },
  "dep add": { now: "task dep TASK --add ID", words: (words) => ["task", "dep", ...flagSecond("--add", words)] },
  "dep rm": { now: "task dep TASK --rm ID", words: (words) => ["task", "dep", ...flagSecond("--rm", words)] },
  "dep list": { now: "task dep" },
  "wip show": { now: "wip" },
  "wip set": { now: "wip" },
  decay: { now: "handoff decay" },
  restore: { now: "handoff restore" },
  "import plan": { now: "import", words: (words) => ["import", ...words, "--from", "plan"] },
  "import ohno": { now: "import", words: (words) => ["import", ...words, "--from", "ohno"] },
  "import jsonl": { now: "import", words: (words) => ["import", ...words, "--from", "jsonl"] },
  prompt: { now: "agent prompt" },
  "message send": { now: "agent message" },
  inbox: { now: "agent inbox" },
  dispatch: { now: "review dispatch" },
  receipts: { now: "review receipts" },
  "artifacts audit": { now: "artifacts check" },
};

export interface OldName {
  /** The new command, for the note. */
  now: string;
  /** The call in new words, if more than the name has changed. */
  words?(rest: readonly string[]): string[];
}

/** Every name of the entry: `task done|review` is `task done` and `task review`. */
export function namesOf({ name }: Pick<CommandEntry, "name">): string[] {
  return name.split(" ").reduce<string[]>(
    (names, word) => {
      const words = word.split("|");
      return names.flatMap((before) => words.map((one) => (before === "" ? one : `${before} ${one}`)));
    },
    [""],
  );
}

/** The entry and the full name for a name or a short form. */
export function findCommand(typed: string): { entry: CommandEntry; name: string } | undefined {
  for (const each of COMMANDS) {
    const names = namesOf(each);
    if (names.includes(typed)) return { entry: each, name: typed };
    const [first = ""] = names;
    if (each.short === typed || (each.isDefault && first.split(" ")[0] === typed)) return { entry: each, name: first };
  }
  return undefined;
}

function group(title: string, entries: readonly Omit<CommandEntry, "group">[]): CommandEntry[] {
  return entries.map((each) => ({ ...each, group: title }));
}

function entry(
  name: string,
  summary: string,
  file: CommandFile,
  more: Pick<CommandEntry, "short" | "isDefault"> = {},
): Omit<CommandEntry, "group"> {
  const load = async (typed: string) => {
    const found = await file();
    return "commands" in found ? found.commands[typed]! : found.command;
  };
  return { name, summary, load, ...more };
}

function renamed(before: string, now: string, verbs: readonly string[]): Record<string, OldName> {
  return Object.fromEntries(verbs.map((verb) => [`${before} ${verb}`, { now: `${now} ${verb}` }]));
}

/** The second argument becomes an option: `A B` is `A --add B`. */
function flagSecond(flag: string, words: readonly string[]): string[] {
  let seen = 0;
  return words.flatMap((word, at) => {
    const isValue = /^--(?:type|agent)$/.test(words[at - 1] ?? "");
    if (word.startsWith("-") || isValue) return [word];
    seen++;
    return seen === 2 ? [flag, word] : [word];
  });
}
