/** The IDs and names that shells complete, read from the project when the user presses Tab. */
import { cleanLine } from "../base/clean-text.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import type { Call } from "./command.ts";
import { openProject } from "./project.ts";
import { openSkills } from "./skills.ts";
import { openWork } from "./work.ts";

export interface Named {
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
  runs: async (call) =>
    (await (await openWork(call, "read")).runs.listRuns({ limit: LIMIT })).map(({ id, state, client }) => ({
      name: id,
      about: `${state}, ${client}`,
    })),
  skills: (call) =>
    openSkills(call)
      .index.listCards()
      .map(({ id, brief }) => ({ name: id, about: brief })),
  sessions: (call) =>
    new SqliteLocalStore(openProject(call, { access: "look" }).handle)
      .listSessions({ limit: LIMIT })
      .map(({ sessionId, client }) => ({ name: sessionId, about: client })),
};

export const KINDS: readonly string[] = Object.keys(LISTS);

/** Names with a blank cannot be completed without quotes, so they are left out. */
export async function listNames(kind: string, call: Call): Promise<Named[]> {
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

export function kindOfArgument(command: string, argument: string): string | undefined {
  if (argument === "NAME" && /^skill (?:show|check|defer|undefer)$/.test(command)) return "skills";
  if (argument === "ID" && command === "session reset") return "sessions";
  return OF_ARGUMENT[argument];
}

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

/** Which names an option takes as its value. */
export function kindOfOption(option: string): string | undefined {
  return OF_OPTION[option];
}
