/**
 * Texts that a model got but that some clients' transcripts lack: the client's listing of skills and the instruction file, rebuilt from what is on
 * disk now, and what our hooks added, from the project's store.
 */
import { MAX_CONFIG_BYTES, readProjectText } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { nativeListing } from "../clients/skill-listings.ts";
import { findProject, openProject } from "../engine/open-project.ts";
import type { Environment } from "../engine/project.ts";
import { refreshIndex } from "../engine/refresh-index.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { readUsage } from "../store/sqlite/skills/skill-usage.ts";
import type { TokenCounter } from "../tokens/count.ts";

export interface Elsewhere {
  /** Tokens of the client's own listing of skills. */
  listing(session: ElsewhereSession, countTokens: TokenCounter): number;
  /** Tokens of the instruction file. */
  instructions(session: ElsewhereSession, countTokens: TokenCounter): number;
  /** What Haversack added to this session, and when. */
  injections(session: ElsewhereSession): { at: number; tokens: number }[];
}

export interface ElsewhereSession {
  client: string;
  sessionId: string;
  agentId: string;
  project?: string;
}

/** What is kept of projects: the tokens of their listings and files. */
const MOST_PROJECTS = 1_000;

export function onThisMachine(env: Environment): Elsewhere {
  const known = new Map<string, number>();
  const once = (key: string, tokens: () => number) => {
    const found = known.get(key) ?? (known.size < MOST_PROJECTS ? tokens() : 0);
    known.set(key, found);
    return found;
  };
  return {
    listing({ client, project = "", agentId }, countTokens) {
      const { ownTokens = 0, copiesInAgents = 1 } = LISTINGS[client] ?? {};
      const tokens = once(
        `${client}\0${project}`,
        () => ownTokens + countTokens(textOf(() => listingOf(client, project, env))),
      );
      return tokens * (agentId === "" ? 1 : copiesInAgents);
    },
    instructions({ project = "" }, countTokens) {
      const file = () =>
        readProjectText(`${project}/AGENTS.md`, { root: project, maxBytes: MAX_CONFIG_BYTES })?.text ?? "";
      return once(`\0${project}`, () => countTokens(textOf(file)));
    },
    injections: ({ sessionId, agentId, project }) =>
      project === undefined ? [] : readInjections(project, { sessionId, agentId, env }),
  };
}

/** "" if the project is gone or cannot be read: its texts then count as system. */
function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

interface ListingFacts {
  /** The skills that the client lists itself. */
  listed: RegExp;
  /** The client's bundled skills. */
  ownTokens: number;
  /** How often the listing is in a sub-agent's system prompt. */
  copiesInAgents: number;
}

/** Seen in Gemini CLI 0.61.0 and opencode 1.18.33. */
const LISTINGS: Readonly<Record<string, ListingFacts>> = {
  gemini: { listed: /\/\.(?:agents|gemini)\/skills\//, ownTokens: 220, copiesInAgents: 2 },
  opencode: { listed: /\/(?:\.(?:claude|agents|opencode)|opencode)\/skills?\//, ownTokens: 121, copiesInAgents: 1 },
};

/** Tokens of a client's bundled skills in its listing, if the listing is rebuilt. */
export function bundledTokens(client: string): number {
  return LISTINGS[client]?.ownTokens ?? 0;
}

function listingOf(client: string, project: string, env: Environment): string {
  const handle = openMemoryStore();
  try {
    refreshIndex(handle, {
      ...findSkillSources(project, { env, folders: [], fs: diskFileSystem }),
      fs: diskFileSystem,
      isRebuild: false,
    });
    const skills = new SqliteSkillIndex(handle.db)
      .listCards()
      .filter(({ modelInvocable, sourceKind, path }) => {
        return modelInvocable && sourceKind !== "rule" && (LISTINGS[client]?.listed.test(path) ?? true);
      })
      .map(({ id, description, path }) => ({ name: id, description, path }));
    return skills.length === 0 ? "" : nativeListing(client, skills);
  } finally {
    handle.db.close();
  }
}

function readInjections(
  project: string,
  { sessionId, agentId, env }: { sessionId: string; agentId: string; env: Environment },
): { at: number; tokens: number }[] {
  try {
    const open = openProject(
      findProject({ cwd: project, env }, () => undefined),
      { access: "look", note: () => undefined },
    );
    try {
      if (open.isMemory) return [];
      const listing = () => ({ tokens: 0, skills: 0 });
      const [usage] = readUsage(open.handle, { limit: 50, sessionId, listing }).filter(
        (one) => one.agentId === agentId,
      );
      return (usage?.injections ?? []).map(({ at, tokens }) => ({ at: Date.parse(at), tokens }));
    } finally {
      open.close();
    }
  } catch {
    // The project is gone, or its store is not this user's, so this is unknown.
    return [];
  }
}
