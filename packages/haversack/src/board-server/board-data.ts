/** What the board's page reads and changes, as JSON with snake_case keys. One method per request; each is one call into the project. */
import { HaversackError } from "../base/errors.ts";
import type { LiveSkills } from "../engine/live-skills.ts";
import { teamState } from "../engine/team/team-state.ts";
import { listAgents } from "../engine/wake/agents.ts";
import { sendMessage } from "../engine/wake/messages.ts";
import { listActivity } from "../engine/work/activity.ts";
import { claimTask, releaseTask } from "../engine/work/claims.ts";
import { createEpic, createStory } from "../engine/work/groups.ts";
import { listHandoffs } from "../engine/work/handoffs.ts";
import type { BoundProject, LiveParts } from "../engine/work/live-work.ts";
import { nextReady } from "../engine/work/next-batch.ts";
import { projectStatus } from "../engine/work/session-context.ts";
import { resolveBlockers, setBlocker, setStatus } from "../engine/work/set-status.ts";
import { createTask, getTask, listTasks, updateTask } from "../engine/work/tasks.ts";
import { given } from "../engine/work/work-parts.ts";
import {
  type AuditView,
  type BoardCard,
  type BoardView,
  COLUMNS,
  type Column,
  type GroupsView,
  type ProjectView,
  type SavingsRow,
  type SkillUseRow,
} from "./board-types.ts";

/** What the board shows besides work and skills, passed by the command that starts the board. */
export interface BoardSources extends BoundProject {
  /** The project's folder name. */
  name: string;
  skills: Pick<LiveSkills, "list" | "match">;
  /** Changes when another process has written local state. Work has a separate mark, because a team's work is in another store. */
  localMark(parts: LiveParts): string;
  runs: RunSource;
  skillUses(parts: LiveParts): readonly SkillUseRow[];
  savings(parts: LiveParts): SavingsRow[];
  audit: AuditSource;
}

/** Reading transcripts takes from a second to minutes, so it runs in another process, and the page asks again for the result. */
export interface AuditSource {
  view(): AuditView;
  /** Starts reading, and cancels a reading for other days. `onChange`: there is something new to show. */
  start(days: number, onChange: () => void): void;
}

export interface RunSource {
  list(parts: LiveParts): Promise<object[]>;
  show(id: string, parts: LiveParts): Promise<object>;
  stop(request: { id: string; isNow: boolean }, parts: LiveParts): Promise<void>;
}

interface ScopeQuery {
  epic?: string | undefined;
  story?: string | undefined;
}

/** How many epics and stories the filter offers. */
const MOST_GROUPS = 200;
/** How many epics or stories are shown with their counts. */
const MOST_COUNTED = 60;
const MOST_FOUND = 50;
const FIRST_CARDS = 60;

export class BoardData {
  readonly #from: BoardSources;
  /** Our own writes do not change the mark of our own connection. */
  #writes = 0;

  constructor(sources: BoardSources) {
    this.#from = sources;
  }

  /** `offline`: the team's store cannot be reached, so all that is shown is of the snapshot. */
  project(): Promise<ProjectView> {
    return this.#from.read(async ({ handle }) => {
      const { offline, takenAt, backlog } = teamState(handle) ?? {};
      return {
        name: this.#from.name,
        ...(offline && { offline: { ...(takenAt && { snapshot_at: takenAt }), waiting: backlog?.count ?? 0 } }),
      };
    });
  }

  version(): Promise<string> {
    return this.#from.read(async (parts) => {
      const since = teamState(parts.handle)?.offline?.since.getTime();
      return [this.#from.localMark(parts), parts.changeMark(), this.#writes, since].join(".");
    });
  }

  /** `limits`: how many cards of a column, if not the first 60. */
  board(
    { epic: epicId, story: storyId }: ScopeQuery,
    limits: Partial<Record<Column, number>> = {},
  ): Promise<BoardView> {
    return this.#from.read(async (parts) => {
      const scope = given({ epicId, storyId });
      const { counts, claims } = await projectStatus(scope, parts);
      const holders = new Map(claims.map((claim) => [claim.taskId, claim]));
      const columns: BoardView["columns"] = [];
      const epics = await parts.store.listEpics({ limit: MOST_GROUPS });
      const stories = await parts.store.listStories({ limit: MOST_GROUPS });
      const titles = new Map([...epics.items, ...stories.items].map(({ id, title }) => [id, title]));
      for (const status of COLUMNS) {
        const limit = limits[status] ?? FIRST_CARDS;
        const { items, total } = await parts.store.listTasks({ ...scope, status, limit, at: parts.by.at });
        const tasks = items.map((task): BoardCard => {
          const claim = holders.get(task.id);
          const { id, title, type, priority, storyId: story, epicId: epic, note, isWaiting, updatedAt } = task;
          const group = titles.get(story ?? "") ?? titles.get(epic ?? "");
          return {
            ...{ id, title, type, priority, updated_at: updatedAt },
            ...(story !== undefined && { story_id: story }),
            ...(epic !== undefined && { epic_id: epic }),
            ...(group !== undefined && { group }),
            ...(isWaiting && { waiting: true as const }),
            ...(note !== undefined && { note }),
            ...(task.blockers && { note: task.blockers.map(({ reason }) => reason).join("; ") }),
            ...(claim && { agent: claim.agent, lease_until: claim.leaseUntil }),
          };
        });
        columns.push({ status, total, tasks });
      }
      const left = epicId || storyId ? [] : await parts.store.listLeft({ limit: 20, at: parts.by.at });
      return {
        project: this.#from.name,
        counts: { ...counts },
        columns,
        groups: [
          ...epics.items.map(({ id, title, status }) => ({ id, kind: "epic" as const, title, status })),
          ...stories.items.map(({ id, title, status, epicId: of }) => ({
            ...{ id, kind: "story" as const, title, status },
            ...(of !== undefined && { epic_id: of }),
          })),
        ],
        left: left.map(({ id, title, agent, lastSeenAt }) => ({ id, title, agent, last_seen_at: lastSeenAt })),
      };
    });
  }

  groups(kind: "epic" | "story"): Promise<GroupsView> {
    return this.#from.read(async ({ store }) => {
      const query = { limit: MOST_COUNTED };
      const { items, total } = kind === "epic" ? await store.listEpics(query) : await store.listStories(query);
      const groups: GroupsView["groups"] = [];
      for (const { id } of items) {
        const one = kind === "epic" ? await store.getEpic(id) : await store.getStory(id);
        const { title, status, counts } = one;
        const { ready: _, archived: __, ...open } = counts;
        groups.push({
          ...{ id, kind, title, status, done: counts.done },
          total: Object.values(open).reduce((sum, count) => sum + count, 0),
          ...("epicId" in one && one.epicId !== undefined && { epic_id: one.epicId }),
        });
      }
      return { groups, total };
    });
  }

  /** Tasks whose id or title contains the text. */
  find(text: string): Promise<{ tasks: { id: string; title: string; status: string }[]; is_cut: boolean }> {
    return this.#from.read(async (parts) => {
      const { items, total } = await listTasks({ find: text.trim(), limit: MOST_FOUND }, parts);
      const tasks = items.map(({ id, title, status }) => ({ id, title, status }));
      return { tasks, is_cut: total > tasks.length };
    });
  }

  task(taskId: string): Promise<object> {
    return this.#from.read(async (parts) => {
      const { task, view } = await getTask({ taskId, fields: "full" }, parts);
      const handoffs = await listHandoffs({ taskId: task.id, limit: 20, includeArchived: true }, parts);
      const { views: activity } = await listActivity({ subject: task.id, limit: 30 }, parts);
      return { ...view, handoffs: handoffs.views, activity };
    });
  }

  ready(scope: ScopeQuery): Promise<object> {
    return this.#from.read(async (parts) => {
      const asked = { epicId: scope.epic, storyId: scope.story, limit: 50, fields: "standard" };
      const { ready, views } = await nextReady(asked, parts);
      return { ready, tasks: views };
    });
  }

  agents(): Promise<object> {
    return this.#from.read(async (parts) => {
      const { items } = await listAgents({}, parts);
      const agents = [];
      for (const agent of items) {
        const inbox = await parts.store.inbox({ agent: agent.name, includeRead: true, limit: 20 });
        agents.push({ ...agent, messages: inbox.items, message_count: inbox.total });
      }
      const claims = await parts.store.listClaims({ at: parts.by.at });
      const held = await listTasks({ status: "in_progress", limit: Math.max(claims.length, 1) }, parts);
      const known = new Map(held.items.map(({ id, title }) => [id, title]));
      const titles = claims.map(async ({ taskId }) => {
        return known.get(taskId) ?? (await parts.store.getTask(taskId, parts.by.at)).title;
      });
      const named = (await Promise.all(titles)).map((title, at) => ({ title, ...claims[at]! }));
      return {
        agents,
        claims: named.map(({ taskId, title, agent, claimedAt, leaseUntil }) => ({
          ...{ task_id: taskId, title, agent, claimed_at: claimedAt, lease_until: leaseUntil },
        })),
      };
    });
  }

  runs(): Promise<object> {
    return this.#from.read(async (parts) => ({ runs: await this.#from.runs.list(parts) }));
  }

  run(id: string): Promise<object> {
    return this.#from.read((parts) => this.#from.runs.show(id, parts));
  }

  async skills(): Promise<object> {
    const uses = await this.#from.read(async (parts) => this.#from.skillUses(parts));
    const byId = new Map(uses.map((use) => [use.id, use]));
    return {
      skills: this.#from.skills.list().map(({ id, name, description, sourceLabel }) => {
        const { shown = 0, used = 0, loaded = 0, tokens = 0 } = byId.get(id) ?? {};
        return { id, name, description, source: sourceLabel, shown, used, loaded, tokens };
      }),
    };
  }

  /** What a prompt would add to a fresh window. Nothing is recorded. */
  async tryPrompt(prompt: string): Promise<object> {
    const { text, tokens, skills } = this.#from.skills.match(prompt, { session: undefined });
    return {
      ...{ text, tokens },
      skills: skills.slice(0, 20).map(({ id, confidence, reasons, disclosure, verdict }) => {
        return { id, confidence, reasons, disclosure, verdict };
      }),
    };
  }

  savings(): Promise<{ sessions: SavingsRow[] }> {
    return this.#from.read(async (parts) => ({ sessions: this.#from.savings(parts) }));
  }

  audit(): AuditView {
    return this.#from.audit.view();
  }

  /** The page is told of its end like of any change. */
  startAudit(input: Fields): AuditView {
    const { days = 30 } = input;
    if (typeof days !== "number" || !Number.isInteger(days) || days < 1 || days > MOST_AUDIT_DAYS)
      throw new HaversackError("input-invalid", `days must be a whole number from 1 to ${MOST_AUDIT_DAYS}`);
    this.#from.audit.start(days, () => this.#writes++);
    return this.audit();
  }

  create(input: Fields): Promise<object> {
    const kind = input["kind"] ?? "task";
    const title = textOf(input, "title") ?? "";
    const description = textOf(input, "description");
    return this.#write(async (parts) => {
      if (kind === "epic") return createEpic({ title, description }, parts);
      if (kind === "story") return createStory({ title, description, epicId: textOf(input, "epic_id") }, parts);
      const { id } = await createTask(
        {
          ...{ title, description, storyId: textOf(input, "story_id") },
          ...{ type: textOf(input, "type"), priority: textOf(input, "priority") },
        },
        parts,
      );
      return { id };
    });
  }

  update(taskId: string, input: Fields): Promise<object> {
    const fields = { title: textOf(input, "title"), priority: textOf(input, "priority"), type: textOf(input, "type") };
    const description = textOf(input, "description");
    return this.#write(async (parts) => {
      const { id } = await updateTask({ taskId, ...fields, description }, parts);
      return { id };
    });
  }

  /** A refusal is an answer: the page says why, and puts the card back. */
  setStatus(taskId: string, input: Fields): Promise<object> {
    const status = textOf(input, "status") ?? "";
    const notes = textOf(input, "notes");
    return this.#write(async (parts) => {
      const outcome =
        status === "blocked"
          ? await setBlocker({ taskId, reason: notes ?? "set on the board" }, parts)
          : await this.#leave(taskId, status, { notes, isForced: input["force"] === true, parts });
      return outcome.kind === "refused" ? { refused: outcome.text } : { id: outcome.task.id, status };
    });
  }

  async #leave(
    taskId: string,
    status: string,
    { notes, isForced, parts }: { notes: string | undefined; isForced: boolean; parts: LiveParts },
  ) {
    const { status: before } = await parts.store.getTask(taskId, parts.by.at);
    if (before === "blocked") {
      const freed = await resolveBlockers({ taskId, notes }, parts);
      if (freed.kind === "refused" || status === "todo") return freed;
    }
    return setStatus({ taskId, status, notes, isForced }, parts);
  }

  claim(taskId: string): Promise<object> {
    return this.#write(async (parts) => {
      const outcome = await claimTask({ taskId }, parts);
      return outcome.kind === "claimed" ? { id: outcome.task.id } : { refused: "text" in outcome ? outcome.text : "" };
    });
  }

  release(taskId: string): Promise<object> {
    return this.#write(async (parts) => {
      const outcome = await releaseTask({ taskId }, parts);
      return outcome.kind === "refused" ? { refused: outcome.text } : { id: taskId };
    });
  }

  send(input: Fields): Promise<object> {
    const to = textOf(input, "to") ?? "";
    const text = textOf(input, "text") ?? "";
    return this.#write(async (parts) => {
      const { id } = await sendMessage({ to: to.split(/[\s,]+/).filter(Boolean), text }, parts);
      return { id };
    });
  }

  stopRun(id: string, input: Fields): Promise<object> {
    return this.#write(async (parts) => {
      await this.#from.runs.stop({ id, isNow: input["now"] === true }, parts);
      return { id };
    });
  }

  async #write<T>(use: (parts: LiveParts) => Promise<T>): Promise<T> {
    const answer = await this.#from.write(use);
    this.#writes++;
    return answer;
  }
}

const MOST_AUDIT_DAYS = 3650;

export type Fields = Readonly<Record<string, unknown>>;

function textOf(input: Fields, key: string): string | undefined {
  const value = input[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw new HaversackError("input-invalid", `${key} must be a text`);
  return value;
}
