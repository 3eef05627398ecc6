/** The largest wastes, in plain words, each with a remedy. */

import { cleanLine } from "../base/clean-text.ts";
import { maskSecrets } from "../base/mask.ts";
import { type ClientFacts, type ClientName, FACTS } from "../clients/facts.ts";
import type { AuditedSession } from "./audit-transcripts.ts";
import { AT } from "./categories.ts";
import { HANDLE_TOKENS, type Item, type Lane, PASTED_TOKENS } from "./window-ledger.ts";

export interface Waste {
  kind: WasteKind;
  project: string;
  /** The file, command, tool or skill; "" if it is none of these. */
  name: string;
  /** Tokens that could have stayed out of windows. */
  tokens: number;
  /** The number of texts with these tokens. */
  count: number;
  windows: number;
  text: string;
  remedy: string;
}

export type WasteKind =
  | "reread"
  | "skill-listing"
  | "skill-again"
  | "shell-output"
  | "mcp-result"
  | "sub-agent-result"
  | "pasted"
  | "planning"
  | "instructions";

interface Total extends Item {
  project: string;
  windows: number;
  clients: Set<string>;
}

/** Above this number, the smallest are dropped to limit memory. A large waste is never among them. */
const MOST_TOTALS = 20_000;

/** The items of all windows, by project. */
export class ItemTotals {
  readonly #totals = new Map<string, Total>();

  take({ client, project = "", windows }: Lane): void {
    const pasted = new Set<string>();
    for (const { items } of windows) for (const item of items.values()) this.#add(item, { client, project, pasted });
    if (this.#totals.size > MOST_TOTALS) this.#forget();
  }

  list(): Total[] {
    return [...this.#totals.values()];
  }

  #add(item: Item, { client, project, pasted }: { client: string; project: string; pasted: Set<string> }): void {
    const key = `${item.category}\0${project}\0${item.name}`;
    const total = this.#totals.get(key);
    // A document that a compaction kept does not count as pasted again.
    const isKept = item.category === AT.pasted && pasted.has(item.name);
    if (item.category === AT.pasted) pasted.add(item.name);
    total?.clients.add(client);
    if (!total) this.#totals.set(key, { ...item, project, windows: 1, clients: new Set([client]) });
    else {
      if (!isKept) total.count += item.count;
      total.tokens += item.tokens;
      total.wasted += item.wasted;
      total.windows++;
    }
  }

  #forget(): void {
    const sorted = [...this.#totals].sort(([, a], [, b]) => b.tokens - a.tokens).slice(0, MOST_TOTALS / 2);
    this.#totals.clear();
    for (const [key, total] of sorted) this.#totals.set(key, total);
  }
}

const MOST_WASTES = 10;
/** Smaller ones are not worth a line. */
const LEAST_TOKENS = 200;
/** Few prompts need the whole of an instruction file beyond this size. */
const INSTRUCTIONS_TOKENS = 2_500;

export function findWastes(items: ItemTotals, sessions: readonly AuditedSession[]): Waste[] {
  const totals = items.list();
  const found = totals.flatMap((total) => {
    const waste = total.category === AT.file_rereads || isPastedOnce(total) ? undefined : wasteOf(total);
    return waste ? [waste] : [];
  });
  return [...found, ...rereadsOf(totals), ...pastedOnceOf(totals), ...planningOf(sessions)]
    .filter(({ tokens }) => tokens >= LEAST_TOKENS)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, MOST_WASTES);
}

function wasteOf({ category, project, name, count, tokens, wasted, windows, clients }: Total): Waste | undefined {
  const all = Math.round(tokens);
  const about = { project, name: shown(insideOf(project, name)), tokens: Math.round(wasted), count, windows };
  switch (category) {
    case AT.skill_listing:
      return {
        ...about,
        name: "",
        kind: "skill-listing",
        text: `The client's own listing of skills was in ${some(windows, "window")}, used or not.`,
        remedy:
          "`haversack init`, then `haversack skill defer --all`, takes your skills out of it; a prompt that needs one still finds it. Bundled skills stay.",
      };
    case AT.skill_bodies:
      return wasted === 0
        ? undefined
        : {
            ...about,
            kind: "skill-again",
            text: `The skill ${about.name || "(unnamed)"} was loaded ${times(count)} into ${some(windows, "window")}.`,
            remedy: "Load skills with Haversack's `skill` tool: the body comes once per window, then a one-line note.",
          };
    case AT.shell_output:
      return {
        ...about,
        kind: "shell-output",
        text: `Output of \`${about.name}\`: ${some(count, "result")}, ${number(all)} tokens in all.`,
        remedy: replacing(clients, {
          works: `keeps head, tail and errors (about ${HANDLE_TOKENS} tokens); \`haversack recall\` returns the rest`,
          otherwise: "Run it so that it prints less, for example with `| tail -50`",
        }),
      };
    case AT.mcp_results:
      return {
        ...about,
        kind: "mcp-result",
        text: `Results of the MCP tool ${about.name}: ${some(count, "result")}, ${number(all)} tokens in all.`,
        remedy: replacing(clients, {
          works: "keeps head and tail of long ones; `haversack recall` returns the rest",
          otherwise: "Ask the tool for fewer fields or fewer results",
        }),
      };
    case AT.sub_agent_results:
      return {
        ...about,
        name: "",
        kind: "sub-agent-result",
        text: `${some(count, "sub-agent report")} came back whole.`,
        remedy: canReplace(clients, "sub-agent")
          ? "`haversack config set work.replace_results true`, then `haversack init`, shows the coordinator the summary of the stored handoff instead, if the sub-agent worked on a task."
          : `Ask sub-agents for a short report, and for the rest in a file. ${noHook(clients)}`,
      };
    case AT.pasted:
      return {
        ...about,
        name: "",
        kind: "pasted",
        text: `The same document of ${number(all / windows)} tokens was pasted ${times(count)}.`,
        remedy: NAME_THE_FILE,
      };
    case AT.instructions: {
      const spare = all - windows * INSTRUCTIONS_TOKENS;
      return {
        ...about,
        name: "",
        tokens: spare,
        kind: "instructions",
        text: `Instruction files take ${number(all / windows)} tokens in every window.`,
        remedy: "Move what only some tasks need into skills, which are loaded on demand.",
      };
    }
    default:
      return undefined;
  }
}

/** In characters: about the size from which an output counts as a waste. */
const REPLACE_OUTPUTS = "`haversack config set outputs.replace_over 4000`, then `haversack init`,";

/** A remedy for long results, which depends on whether hooks of these clients can replace them. */
function replacing(clients: ReadonlySet<string>, { works, otherwise }: { works: string; otherwise: string }): string {
  if (!canReplace(clients, "output")) return `${otherwise}. ${noHook(clients)}`;
  const others = [...clients].filter((client) => !canReplace(new Set([client]), "output"));
  return `${REPLACE_OUTPUTS} ${works}${others.length > 0 ? `, not in ${titles(others)}` : ""}.`;
}

function canReplace(clients: ReadonlySet<string>, what: ClientFacts["replaces"][number]): boolean {
  return [...clients].some((client) => FACTS[client as ClientName]?.replaces.includes(what));
}

function noHook(clients: ReadonlySet<string>): string {
  return `No hook of ${titles([...clients])} can replace it.`;
}

function titles(clients: readonly string[]): string {
  return clients.map((client) => FACTS[client as ClientName]?.title ?? client).join(" or ");
}

/** With the largest waste first. */
function byProject(totals: readonly Total[], isWanted: (total: Total) => boolean): Map<string, [Total, ...Total[]]> {
  const projects = new Map<string, [Total, ...Total[]]>();
  for (const total of totals.filter(isWanted).sort((a, b) => b.wasted - a.wasted)) {
    const others = projects.get(total.project);
    if (others) others.push(total);
    else projects.set(total.project, [total]);
  }
  return projects;
}

function isPastedOnce({ category, count }: Total): boolean {
  return category === AT.pasted && count === 1;
}

const NAME_THE_FILE =
  "Put it in a file and name the file. For reviewers, `haversack review dispatch ROLE --feature DIR` prints a prompt that does so.";

/** One per project: the remedy is the same for all documents. */
function pastedOnceOf(totals: readonly Total[]): Waste[] {
  return [...byProject(totals, isPastedOnce)].map(([project, documents]) => {
    const sum = (of: (total: Total) => number) => documents.reduce((all, total) => all + of(total), 0);
    const [largest] = documents;
    const each = number(largest.tokens / largest.windows);
    return {
      ...{ kind: "pasted", project, name: "", tokens: Math.round(sum(({ wasted }) => wasted)) },
      ...{ count: documents.length, windows: sum(({ windows }) => windows) },
      text:
        documents.length === 1
          ? `A document of ${each} tokens was pasted into a prompt.`
          : `${some(documents.length, "document")} were pasted into prompts, the largest of ${each} tokens.`,
      remedy: NAME_THE_FILE,
    };
  });
}

/** One per project: the remedy is the same for all files. */
function rereadsOf(totals: readonly Total[]): Waste[] {
  return [...byProject(totals, ({ category }) => category === AT.file_rereads)].map(([project, files]) => {
    const [most, ...others] = files;
    const clients = new Set(files.flatMap((file) => [...file.clients]));
    const sum = (of: (total: Total) => number) => files.reduce((all, total) => all + of(total), 0);
    const name = shown(insideOf(project, most.name));
    const rest =
      others.length === 0
        ? ""
        : `, and ${some(others.length, "other file")} ${times(sum(({ count }) => count) - most.count)}`;
    return {
      ...{ kind: "reread", project, name, tokens: Math.round(sum(({ wasted }) => wasted)) },
      ...{ count: sum(({ count }) => count), windows: Math.max(...files.map(({ windows }) => windows)) },
      text: `${name || "A file"} was read again unchanged ${times(most.count)}${rest}, while the window still held the same text.`,
      remedy: replacing(clients, {
        works: "replaces a long unchanged read by one line; `haversack recall` returns it",
        otherwise: "Ask for the lines that matter instead of the whole file",
      }),
    };
  });
}

function planningOf(sessions: readonly AuditedSession[]): Waste[] {
  const projects = new Map<string, { tokens: number; count: number }>();
  for (const { project, windows } of sessions) {
    const tokens = windows.reduce((sum, { categories }) => sum + categories.planning, 0);
    // A plan of this size is short.
    if (tokens < PASTED_TOKENS) continue;
    const total = projects.get(project) ?? { tokens: 0, count: 0 };
    projects.set(project, { tokens: total.tokens + tokens, count: total.count + 1 });
  }
  return [...projects].map(([project, { tokens, count }]) => ({
    kind: "planning",
    project,
    name: "",
    tokens,
    count,
    windows: count,
    text: `${some(count, "session")} planned for ${number(tokens / count)} tokens${count > 1 ? " each" : ""} before the first edit.`,
    remedy: "Keep the plan as tasks with `haversack import PLAN`: a session then starts with `haversack next`.",
  }));
}

/** Names come from transcripts: no secrets, no control characters, no more than a line. */
function shown(name: string): string {
  return cleanLine(maskSecrets(name), { maxChars: 120 });
}

function insideOf(project: string, path: string): string {
  return project !== "" && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${number(count)} times`;
}

export function some(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function number(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
