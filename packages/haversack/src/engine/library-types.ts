/** The library's types. The published declarations start here, so nothing in them needs the types of Node or of the SQLite driver. */
import type { Reason } from "../skills/matching/match-skills.ts";
import type { Format } from "../skills/showing/disclosure.ts";
import type { SkillResources } from "../skills/showing/skill-output.ts";
import type { SentMessage, SkillUse } from "../store/work-store.ts";
import type { Agent, Message } from "../wake/text.ts";
import type { Claim, TaskBrief } from "../work/task.ts";
import type { ArtifactOperations } from "./artifacts/artifact-operations.ts";
import type { WorkOperations } from "./work/work-operations.ts";

export interface OpenOptions {
  /** The name of the agent that claims tasks and sends messages. Default: HAVERSACK_AGENT, else a name generated for this process. */
  agent?: string | undefined;
  /** The coding client that texts are written for: its tool names and size limits. Default: plain text; claude-code for resumes. */
  client?: ClientName | undefined;
  /**
   * Called when something is wrong but the answer is still right: a wrong value in a config file, whose default is used, or a store that
   * cannot be written.
   */
  onWarning?: ((text: string) => void) | undefined;
}

export type ClientName = "claude-code" | "codex" | "gemini" | "opencode" | "plain";

export interface Project {
  /** The project's root folder. */
  readonly root: string;
  readonly skills: Skills;
  readonly work: WorkOperations;
  readonly agents: Agents;
  readonly artifacts: ArtifactOperations;
  /** Returns what an agent needs to continue its work. Does not mark messages as read. */
  wake(request?: WakeRequest): Promise<WakeAnswer>;
  /** Closes the database. A later call opens it again. */
  close(): void;
}

export interface Skills {
  /** Lists every skill found for this project, sorted by ID. */
  list(): Promise<SkillInfo[]>;
  /** Finds the skills that fit a prompt, and the text to give the model. */
  match(prompt: string, options?: MatchOptions): Promise<SkillAnswer>;
  /** Finds skills by what you need, best match first. */
  search(query: string, options?: { limit?: number }): Promise<FoundSkillInfo[]>;
  /** Returns a skill's text. With a session you get the text once per window, and a one-line note after that. */
  load(name: string, options?: LoadOptions): Promise<SkillText>;
  /** Reads a file in the skill's folder. */
  readResource(name: string, path: string): Promise<ResourceText>;
}

export interface SkillInfo {
  id: string;
  name: string;
  description: string;
  path: string;
  /** Where it was found, such as `.claude/skills`. */
  source: string;
  /** False: the author does not want it recommended to models. */
  modelInvocable: boolean;
}

export interface SessionOptions {
  /** Your ID for one conversation. Haversack remembers what that conversation was shown. Default: it remembers nothing. */
  session?: string | undefined;
  /** The ID of a sub-agent in that session, which has its own window. Default: the main agent. */
  agentId?: string | undefined;
}

export interface MatchOptions extends SessionOptions {
  /** The client to write for. Default: the client that the project was opened with. */
  client?: ClientName | undefined;
  /** The type of task, such as `bug` or `feature`, for rules that depend on it. */
  taskType?: string | undefined;
  /** The agent's role, such as `implementer`, for rules that depend on it. */
  role?: string | undefined;
}

export interface SkillAnswer {
  format: Format;
  /** The text for the model. Empty: there is nothing to add. */
  text: string;
  /** The estimated number of tokens in `text`. */
  tokens: number;
  /** All candidates, best match first, including those that are not in `text`. */
  skills: MatchedSkill[];
}

export interface MatchedSkill {
  id: string;
  name: string;
  /** From 0 to 1. */
  confidence: number;
  reasons: Reason[];
  /** How much of it is in `text`. full: a description. name: only the name. body: its whole text. none: nothing. */
  disclosure: "full" | "name" | "body" | "none";
}

export interface FoundSkillInfo {
  id: string;
  name: string;
  /** A description in one line. */
  brief: string;
  confidence: number;
}

export interface LoadOptions extends SessionOptions {
  /** Return the text even if this window already has it. Default: false. */
  reload?: boolean;
  /** List the skill's files. Default: true. */
  includeResources?: boolean;
}

export type SkillText =
  | {
      kind: "loaded";
      id: string;
      text: string;
      /** Identifies this version of the text. */
      hash: string;
      tokens: number;
      resources?: SkillResources;
      /** Skills that it requires; their text is included. */
      requires: string[];
      /** The file has changed since this window got its text. */
      hasChanged: boolean;
    }
  | { kind: "already-loaded"; id: string; text: string; hash: string }
  | { kind: "unknown"; text: string; nearest: string[] };

export type ResourceText =
  | { kind: "text"; text: string; file: string; cutFrom?: number }
  | { kind: "refused" | "unknown"; text: string };

export interface Agents {
  /** Adds an agent, or changes the agent with that name. */
  add(agent: {
    name: string;
    role: string;
    branch?: string | undefined;
    client?: string | undefined;
    worktree?: string | undefined;
  }): Promise<Agent>;
  list(page?: { limit?: number | undefined; offset?: number | undefined }): Promise<Agent[]>;
  show(agent: AgentName): Promise<AgentDetails>;
  /** Removes an agent. Refused while it holds tasks. */
  remove(
    agent: AgentName,
  ): Promise<{ kind: "removed"; agent: Agent; released: string[]; unread: number } | { kind: "refused"; text: string }>;
  /** Sends a message to the agents in `to` and to those that the text mentions with @. If one in `to` is unknown, nobody gets it. */
  send(message: { to: readonly string[]; text: string; subject?: string | undefined }): Promise<SentMessage>;
  /** Returns unread messages, oldest first, and marks them as read. */
  inbox(query?: InboxRequest): Promise<{ messages: Message[]; total: number; leftOut: number }>;
}

export interface AgentName {
  name: string;
  branch?: string | undefined;
}

export interface AgentDetails extends Agent {
  holds: (TaskBrief & { claim: Claim })[];
  unread: number;
  /** The skills it worked with, newest first. */
  skills: SkillUse[];
}

export interface InboxRequest {
  /** Default: the agent that the project was opened with. */
  agent?: string | undefined;
  /** Return read messages too, newest first. Default: false. */
  includeRead?: boolean | undefined;
  /** The largest number of messages. Default: 20. */
  limit?: number | undefined;
  /** Do not mark the messages as read. Default: false. */
  keepUnread?: boolean | undefined;
}

export interface WakeRequest {
  /** Default: the agent that the project was opened with. */
  agent?: string | undefined;
  branch?: string | undefined;
  /** The task to continue with. Default: the task that the agent holds. */
  taskId?: string | undefined;
  sessionId?: string | undefined;
  client?: ClientName | undefined;
  /** The largest estimated number of tokens. Default: the client's limit. */
  budgetTokens?: number | undefined;
}

export type WakeAnswer =
  | {
      kind: "packet";
      text: string;
      agent?: string;
      taskId?: string;
      skills: { id: string; because: string }[];
      /** What did not fit into the budget, and how to get it. */
      leftOut: { what: string; count: number; how?: string }[];
      /** What was expected but not found, such as a skill that is not installed. */
      missing: string[];
      problems: string[];
    }
  /** There is nothing to resume; `text` says why. */
  | { kind: "nothing"; text: string };
