/** Every command: its words, one line, and the file that is loaded when it is called. */
import type { CommandEntry } from "./command.ts";

const CLIENTS = "Clients";
const SKILLS = "Skills";
const HOUSE = "The house";

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "init",
    group: CLIENTS,
    summary: "Wire Haversack into the coding clients found here",
    load: () => import("./commands/init.ts"),
  },
  {
    name: "uninstall",
    group: CLIENTS,
    summary: "Take out exactly what init wrote",
    load: () => import("./commands/uninstall.ts"),
  },
  {
    name: "doctor",
    group: CLIENTS,
    summary: "Say what is wrong and what helps",
    load: () => import("./commands/doctor.ts"),
  },
  { name: "mcp", group: CLIENTS, summary: "The MCP server, for clients", load: () => import("./commands/mcp.ts") },
  {
    name: "discover",
    group: SKILLS,
    summary: "What a prompt would bring into the model's window",
    load: () => import("./commands/discover.ts"),
  },
  {
    name: "why",
    group: SKILLS,
    summary: "Why each skill was or was not shown",
    load: () => import("./commands/why.ts"),
  },
  {
    name: "context",
    group: SKILLS,
    summary: "What a session's window has been shown, as JSON",
    load: () => import("./commands/context.ts"),
  },
  {
    name: "skills list",
    group: SKILLS,
    summary: "Skills found for this project",
    load: () => import("./commands/skills-list.ts"),
  },
  {
    name: "skills show",
    group: SKILLS,
    summary: "A skill's text and its resources",
    load: () => import("./commands/skills-show.ts"),
  },
  {
    name: "skills search",
    group: SKILLS,
    summary: "Find skills by what you need",
    load: () => import("./commands/skills-search.ts"),
  },
  { name: "skills check", group: SKILLS, summary: "Lint the skills", load: () => import("./commands/skills-check.ts") },
  {
    name: "skills index",
    group: SKILLS,
    summary: "Rebuild the index",
    load: () => import("./commands/skills-index.ts"),
  },
  {
    name: "skills stats",
    group: SKILLS,
    summary: "What was shown, used, and its cost",
    load: () => import("./commands/skills-stats.ts"),
  },
  {
    name: "skills defer",
    group: SKILLS,
    summary: "Hide skills from the client's listing",
    load: () => import("./commands/skills-defer.ts"),
  },
  {
    name: "skills undefer",
    group: SKILLS,
    summary: "List them again",
    load: () => import("./commands/skills-undefer.ts"),
  },
  {
    name: "skills new",
    group: SKILLS,
    summary: "Make a skill in the right shape",
    load: () => import("./commands/skills-new.ts"),
  },
  {
    name: "skills eval",
    group: SKILLS,
    summary: "Measure how well prompts find skills",
    load: () => import("./commands/skills-eval.ts"),
  },
  {
    name: "rules check",
    group: SKILLS,
    summary: "Lint a skill-rules.json",
    load: () => import("./commands/rules-check.ts"),
  },
  {
    name: "session list",
    group: HOUSE,
    summary: "Sessions seen in this project",
    load: () => import("./commands/session-list.ts"),
  },
  {
    name: "session reset",
    group: HOUSE,
    summary: "Forget what a session has been shown",
    load: () => import("./commands/session-reset.ts"),
  },
  {
    name: "wip show",
    group: HOUSE,
    summary: "What a session is in the middle of",
    load: () => import("./commands/wip-show.ts"),
  },
  {
    name: "usage",
    group: HOUSE,
    summary: "Tokens added per session, and what listing would have cost",
    load: () => import("./commands/usage.ts"),
  },
  {
    name: "config",
    group: HOUSE,
    summary: "Every setting, its value and where it comes from",
    load: () => import("./commands/config.ts"),
  },
  { name: "on", group: HOUSE, summary: "Switch Haversack on", load: () => import("./commands/on.ts") },
  { name: "off", group: HOUSE, summary: "Switch everything off at once", load: () => import("./commands/off.ts") },
  { name: "log", group: HOUSE, summary: "What Haversack logged here", load: () => import("./commands/log.ts") },
  { name: "store check", group: HOUSE, summary: "Check the store", load: () => import("./commands/store-check.ts") },
  {
    name: "store backup",
    group: HOUSE,
    summary: "Copy the store to a file",
    load: () => import("./commands/store-backup.ts"),
  },
  {
    name: "store restore",
    group: HOUSE,
    summary: "Take the store back from a backup",
    load: () => import("./commands/store-restore.ts"),
  },
  {
    name: "store purge",
    group: HOUSE,
    summary: "Remove old local state",
    load: () => import("./commands/store-purge.ts"),
  },
  {
    name: "completion",
    group: HOUSE,
    summary: "Shell completion for bash, zsh and fish",
    load: () => import("./commands/completion.ts"),
  },
];
