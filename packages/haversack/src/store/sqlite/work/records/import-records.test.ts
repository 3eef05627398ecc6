import { beforeEach, describe, expect, it } from "vitest";
import {
  type AgentRecord,
  formatRecord,
  type ImportReport,
  type MessageRecord,
  type TaskRecord,
  type WorkRecord,
} from "../../../record-fields.ts";
import type { StoreHandle } from "../../access.ts";
import { openMemoryStore } from "../../open.ts";
import { skillHistory } from "../agents.ts";
import { readWake } from "../events/wake-state.ts";
import { computeQueue } from "../queue.ts";
import { exportRecords } from "./export-records.ts";
import { importRecords } from "./import-records.ts";

const early = "2026-11-01T08:00:00.000Z";
const late = "2026-11-02T08:00:00.000Z";
const now = new Date("2026-11-16T09:30:00.000Z");

let handle: StoreHandle;
beforeEach(() => {
  handle = openMemoryStore();
});

function take(records: WorkRecord[], isDryRun = false): ImportReport {
  return importRecords(handle.db, records, { isDryRun }, { name: "june", at: now });
}

function lines(): string[] {
  return [...exportRecords(handle.db)].map(formatRecord);
}

function task(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    kind: "task",
    id,
    title: `Title of ${id}`,
    type: "feature",
    status: "todo",
    priority: "P2",
    created_at: early,
    updated_at: early,
    ...more,
  };
}

function message(id: string, more: Partial<MessageRecord> = {}): MessageRecord {
  return {
    kind: "message",
    id,
    from: "june",
    text: `Text of ${id}`,
    created_at: early,
    readers: [{ agent: "ann", is_mention: true }],
    ...more,
  };
}

const agent = (name: string, more: Partial<AgentRecord> = {}): AgentRecord => ({
  kind: "agent",
  name,
  role: "implementer",
  created_at: early,
  ...more,
});

function stored(id: string): TaskRecord | undefined {
  return [...exportRecords(handle.db)].find(
    (record): record is TaskRecord => record.kind === "task" && record.id === id,
  );
}

const waits = (task_id: string, depends_on_id: string, type = "blocks"): WorkRecord => ({
  kind: "dependency",
  task_id,
  depends_on_id,
  type,
  created_at: early,
});

/** One of everything. */
function everything(): WorkRecord[] {
  return [
    {
      kind: "epic",
      id: "E1",
      title: "Epic",
      priority: "P0",
      status: "in_progress",
      created_at: early,
      updated_at: late,
    },
    {
      kind: "story",
      id: "S1",
      epic_id: "E1",
      title: "Story",
      status: "in_progress",
      created_at: early,
      updated_at: late,
    },
    task("T1", {
      story_id: "S1",
      status: "in_progress",
      description: 'lines\nand "quotes" and 👩‍🚀',
      acceptance_criteria: "- works",
      files: ["src/a.ts", "src/b.ts"],
      steps: [
        { text: "one", done: true },
        { text: "two", done: false },
      ],
      estimate_hours: 0.5,
      skill: "tdd",
      plan_file: "docs/plan.md",
      plan_section: "Task 1: Title",
      started_at: late,
      claim: {
        agent: "ann",
        session_id: "s1",
        claimed_at: late,
        heartbeat_at: late,
        lease_until: "2026-12-01T00:00:00.000Z",
      },
      wip: { phase: "testing", mine: { deep: [1, { x: null }] } },
      wip_updated_at: late,
      wip_history: [{ at: late, actor: "ann", path: "phase", before: "coding", after: "testing" }],
    }),
    task("T2", { parent_id: "T1", story_id: "S1", status: "blocked" }),
    waits("T2", "T1"),
    { kind: "blocker", task_id: "T2", reason: "no key", actor: "ann", created_at: late },
    { kind: "failure", task_id: "T1", actor: "ann", created_at: late, summary: "red", details: "trace" },
    {
      kind: "handoff",
      id: "H1",
      task_id: "T1",
      role: "implementer",
      attempt: 1,
      status: "FAIL",
      summary: "not yet",
      files_changed: ["src/a.ts"],
      details: "long\n".repeat(1000),
      actor: "ann",
      created_at: late,
      compacted_at: late,
    },
    {
      kind: "agent",
      name: "ann",
      role: "orchestrator",
      client: "claude-code",
      session_id: "s1",
      worktree: "/w",
      created_at: early,
      last_seen_at: late,
    },
    { kind: "agent", name: "ann", branch: "auth", role: "implementer", created_at: early },
    message("M1", {
      subject: "T1",
      readers: [
        { agent: "ann", is_mention: true, read_at: late },
        { agent: "ann", branch: "auth", is_mention: false },
      ],
    }),
    { kind: "skill_use", at: early, agent: "ann", skill: "tdd", hash: "a1", because: "in use before" },
    {
      kind: "skill_use",
      at: late,
      agent: "ann",
      task_id: "T1",
      skill: "tdd",
      hash: "a1",
      because: "named by the task",
    },
    { kind: "activity", at: late, actor: "ann", activity: "task-claimed", subject: "T1", text: "claimed" },
    // Two equal entries: both happened.
    { kind: "activity", at: late, actor: "ann", activity: "task-claimed", subject: "T1", text: "claimed" },
  ];
}

describe("importRecords", () => {
  it("takes one of everything into an empty store and gives the same lines back", () => {
    const report = take(everything());
    expect(report.problems).toEqual([]);
    expect(report.added).toEqual({
      epic: 1,
      story: 1,
      task: 2,
      dependency: 1,
      blocker: 1,
      failure: 1,
      handoff: 1,
      agent: 2,
      message: 1,
      skill_use: 2,
      activity: 2,
    });
    expect(lines()).toEqual(everything().map(formatRecord));
  });

  it("takes the skill that a task was worked on with later than what came, and none of an unknown task", () => {
    const use = (at: string, hash: string, task_id: string): WorkRecord => ({
      kind: "skill_use",
      at,
      agent: "ann",
      task_id,
      skill: "tdd",
      hash,
      because: "named by the task",
    });
    take([task("T1"), use(late, "new", "T1")]);
    const report = take([task("T1"), use(early, "old", "T1"), use(early, "lost", "T9")]);
    expect(report.added.skill_use).toBe(1);
    expect(report.problems).toEqual([{ where: `use of skill tdd ${early}`, text: "task_id T9 is unknown: left out" }]);
    expect(skillHistory(handle.db, { taskId: "T1", limit: 5 }).map(({ hash }) => hash)).toEqual(["new", "old"]);
    expect(readWake(handle.db, { taskId: "T1" }).pinned[0]).toEqual({ skill: "tdd", hash: "new" });
  });

  it("keeps a claim so that the session that holds it is known again", () => {
    take(everything());
    expect({ ...handle.db.prepare("SELECT agent, session_id, agent_id, lease_until FROM claims").get() }).toEqual({
      agent: "ann",
      session_id: "s1",
      agent_id: "",
      lease_until: Date.parse("2026-12-01T00:00:00.000Z"),
    });
  });

  it("adds as many of several that are alike as are missing", () => {
    const activity: WorkRecord = { kind: "activity", at: early, actor: "a", activity: "x", text: "t" };
    const failure: WorkRecord = { kind: "failure", task_id: "T1", actor: "a", created_at: early, summary: "s" };
    take([task("T1"), activity, failure]);
    expect(take([activity, activity, activity, failure, failure])).toMatchObject({
      same: 2,
      added: { activity: 2, failure: 1 },
    });
  });

  it("adds nothing the second time", () => {
    take(everything());
    const before = lines();
    const report = take(everything());
    expect(report.same).toBe(everything().length);
    expect(Object.values(report.added).every((count) => count === 0)).toBe(true);
    expect([report.updated, report.kept, report.renamed, report.problems]).toEqual([[], [], [], []]);
    expect(lines()).toEqual(before);
  });

  it("takes records in any order", () => {
    expect(take(everything().reverse()).problems).toEqual([]);
    expect(lines()).toEqual(everything().map(formatRecord));
  });

  it("changes nothing in a dry run, and reports the same", () => {
    const dry = take(everything(), true);
    expect(lines()).toEqual([]);
    expect(take(everything())).toEqual(dry);
  });

  it("lets the later change win and names the fields, both ways", () => {
    take([task("T1", { description: "old", skill: "tdd" })]);
    const newer = task("T1", { description: "new", updated_at: late });
    expect(take([newer]).updated).toEqual([{ id: "T1", fields: ["description", "skill"] }]);
    expect(stored("T1")).toEqual(newer);
    const older = take([task("T1", { description: "old" })]);
    expect(older).toMatchObject({ updated: [], kept: [{ id: "T1", fields: ["description"] }] });
    expect(stored("T1")?.description).toBe("new");
  });

  it("fills what is missing when both are equally old, and keeps the rest", () => {
    take([task("T1", { title: "Mine" })]);
    const report = take([task("T1", { title: "Theirs", description: "only theirs" })]);
    expect(report).toMatchObject({
      updated: [{ id: "T1", fields: ["description"] }],
      kept: [{ id: "T1", fields: ["title"] }],
    });
    expect(stored("T1")).toMatchObject({ title: "Mine", description: "only theirs" });
  });

  it("decides about WIP by its own time and unites its history", () => {
    const change = (at: string) => ({ at, actor: "ann", path: "phase", before: "a", after: "b" });
    take([task("T1", { updated_at: late, wip: { phase: "old" }, wip_updated_at: early, wip_history: [change(late)] })]);
    const report = take([task("T1", { wip: { phase: "new" }, wip_updated_at: late, wip_history: [change(early)] })]);
    expect(report.updated).toEqual([{ id: "T1", fields: ["wip", "wip_history"] }]);
    expect(stored("T1")).toMatchObject({ wip: { phase: "new" }, updated_at: late });
    expect(stored("T1")?.wip_history?.map(({ at }) => at)).toEqual([early, late]);
  });

  it("gives another thing with a known id a new one, and everything in the import follows", () => {
    take([task("T1", { title: "Mine" }), task("T9", { title: "Known here" })]);
    const theirs = [
      task("T1", { title: "Theirs", created_at: late, updated_at: late }),
      task("T2", { parent_id: "T1" }),
      waits("T2", "T1"),
      { kind: "blocker", task_id: "T1", reason: "r", actor: "a", created_at: late },
      { kind: "activity", at: late, actor: "a", activity: "x", subject: "T1", text: "t" },
      {
        kind: "handoff",
        id: "H1",
        task_id: "T1",
        role: "r",
        attempt: 1,
        status: "PASS",
        summary: "s",
        actor: "a",
        created_at: late,
      },
    ] satisfies WorkRecord[];
    const { renamed, problems } = take(theirs);
    expect(problems).toEqual([]);
    const to = renamed[0]?.to as string;
    expect(renamed).toEqual([{ from: "T1", to: expect.stringMatching(/^T\d{4,12}$/) }]);
    expect(stored("T1")?.title).toBe("Mine");
    expect(stored(to)?.title).toBe("Theirs");
    expect(stored("T2")?.parent_id).toBe(to);
    const references = lines().filter((line) => !line.includes('"kind":"task"'));
    expect(references.every((line) => line.includes(to) && !line.includes('"T1"'))).toBe(true);
    // The second import must find it again.
    const before = lines();
    expect(take(theirs)).toMatchObject({ renamed: [], same: theirs.length });
    expect(lines()).toEqual(before);
  });

  it("gives a thing whose id another kind has a new one", () => {
    take([task("X1")]);
    const report = take([
      { kind: "epic", id: "X1", title: "Epic", priority: "P2", status: "todo", created_at: late, updated_at: late },
    ]);
    expect(report.renamed).toEqual([{ from: "X1", to: expect.stringMatching(/^E\d{4,12}$/) }]);
  });

  it("numbers a handoff on when its attempt is taken, and knows it again", () => {
    const handoff = (id: string, summary: string): WorkRecord => ({
      kind: "handoff",
      id,
      task_id: "T1",
      role: "implementer",
      attempt: 1,
      status: "PASS",
      summary,
      actor: "a",
      created_at: early,
    });
    take([task("T1"), handoff("H1", "mine")]);
    expect(take([handoff("H2", "theirs")]).renamed).toEqual([
      { from: "H2 (implementer, attempt 1)", to: "H2 (implementer, attempt 2)" },
    ]);
    expect(take([handoff("H2", "theirs")])).toMatchObject({ same: 1, renamed: [] });
  });

  it("knows an agent by its name and branch, and lets the one seen later win", () => {
    take([agent("ann", { role: "fixer" }), agent("ann", { branch: "auth" })]);
    const newer = agent("ann", { session_id: "s2", last_seen_at: late });
    expect(take([newer])).toMatchObject({
      added: { agent: 0 },
      updated: [{ id: "agent @ann", fields: ["role", "session_id", "last_seen_at"] }],
    });
    expect(take([agent("ann", { role: "fixer" })]).kept).toEqual([
      { id: "agent @ann", fields: ["role", "session_id", "last_seen_at"] },
    ]);
    expect(lines()).toEqual([newer, agent("ann", { branch: "auth" })].map(formatRecord));
  });

  it("unites the readers of a message: what was read on either side is read", () => {
    take([agent("ann"), agent("bob"), message("M1")]);
    const theirs = message("M1", {
      readers: [
        { agent: "ann", is_mention: true, read_at: late },
        { agent: "bob", is_mention: true },
      ],
    });
    expect(take([theirs]).updated).toEqual([{ id: "M1", fields: ["readers"] }]);
    expect(lines().at(-1)).toBe(formatRecord(theirs));
    expect(take([message("M1")])).toMatchObject({ same: 1, updated: [], kept: [] });
    const other = message("M1", { readers: [{ agent: "ann", is_mention: true, read_at: now.toISOString() }] });
    expect(take([other]).kept).toEqual([{ id: "M1", fields: ["readers"] }]);
    expect(lines().at(-1)).toBe(formatRecord(theirs));
  });

  it("gives another message with a known id a new one, and follows what it came with", () => {
    take([agent("ann"), task("T1", { title: "Mine" }), message("M1")]);
    const theirs = [
      task("T1", { title: "Theirs", created_at: late }),
      message("M1", { text: "Another", created_at: late, subject: "T1" }),
    ];
    const { renamed } = take(theirs);
    expect(renamed.map(({ from }) => from)).toEqual(["T1", "M1"]);
    expect(lines().find((line) => line.includes("Another"))).toContain(`"subject":"${renamed[0]?.to}"`);
    expect(take(theirs)).toMatchObject({ same: 2, renamed: [] });
  });

  it("leaves out readers that are unknown, and a message that has none", () => {
    const { problems, added } = take([
      agent("ann"),
      message("M1", {
        readers: [
          { agent: "ann", branch: "auth", is_mention: true },
          { agent: "ann", is_mention: true },
        ],
      }),
      message("M2", { readers: [{ agent: "bob", is_mention: true }] }),
      agent("no name"),
    ]);
    expect(added).toMatchObject({ agent: 1, message: 1 });
    expect(problems.map(({ where, text }) => `${where}: ${text}`)).toEqual([
      'agent @no name: name must be letters, digits, ".", "_" and "-", 64 at most, but is "no name"',
      "message M1: agent @ann on auth is unknown: left out as a reader",
      "message M2: agent @bob is unknown: left out as a reader",
      "message M2: has no reader: left out",
    ]);
  });

  it("puts messages into the order in which they were sent", () => {
    take([agent("ann"), message("M1", { created_at: late }), message("M2")]);
    const rows = handle.db.prepare("SELECT id FROM messages ORDER BY seq").all();
    expect(rows.map(({ id }) => id)).toEqual(["M2", "M1"]);
  });

  it("reports what refers to nothing and takes the rest", () => {
    const { problems, added } = take([
      task("T1", { story_id: "S404", parent_id: "T404" }),
      waits("T1", "T404"),
      { kind: "failure", task_id: "T404", actor: "a", created_at: late, summary: "s" },
    ]);
    expect(added).toMatchObject({ task: 1, dependency: 0, failure: 0 });
    expect(problems.map(({ where, text }) => `${where}: ${text}`)).toEqual([
      "task T1: story_id S404 is unknown: imported without it",
      "task T1: parent_id T404 is unknown: imported without it",
      "dependency T1 -> T404: depends_on_id T404 is unknown: left out",
      "failure of task T404: task_id T404 is unknown: left out",
    ]);
  });

  it("repairs by a second import what the first could not refer to", () => {
    take([task("T1", { story_id: "S1" })]);
    take([
      { kind: "story", id: "S1", title: "S", status: "todo", created_at: early, updated_at: early },
      task("T1", { story_id: "S1" }),
    ]);
    expect(stored("T1")?.story_id).toBe("S1");
  });

  it("refuses records that are none, naming the field", () => {
    const { problems, added } = take([task("T1", { status: "doing" }), task("T2")]);
    expect(added.task).toBe(1);
    expect(problems[0]).toMatchObject({ where: "task T1", text: expect.stringContaining("status must be one of") });
  });

  it("leaves out a dependency that closes a cycle and shows it", () => {
    take([task("T1"), task("T2"), waits("T2", "T1")]);
    const { problems } = take([task("T3"), waits("T3", "T2"), waits("T1", "T3"), waits("T1", "T2", "relates_to")]);
    expect(problems).toEqual([
      { where: "dependency T1 -> T3", text: "would close a cycle: T1 -> T3 -> T2 -> T1; left out" },
    ]);
    expect(lines().filter((line) => line.includes('"dependency"'))).toHaveLength(3);
  });

  it("leaves out a dependency on itself and a parent that is a descendant", () => {
    const { problems } = take([task("T1", { parent_id: "T2" }), task("T2", { parent_id: "T1" }), waits("T1", "T1")]);
    expect(problems.map(({ text }) => text)).toEqual([
      "parent_id T1 left out: the task would be its own ancestor",
      "a task cannot depend on itself: left out",
    ]);
  });

  it("takes a chain of 20,000 tasks without walking it for each", () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `T${at}`);
    const { added, problems } = take([
      ...ids.map((id) => task(id)),
      ...ids.slice(1).map((id, at) => waits(id, `T${at}`)),
    ]);
    expect(problems).toEqual([]);
    expect(added.dependency).toBe(19_999);
  });

  describe("of a task that somebody holds", () => {
    const claim = { agent: "ann", claimed_at: early, heartbeat_at: early, lease_until: "2026-11-16T10:00:00.000Z" };
    const held = () => task("T1", { status: "in_progress", started_at: early, claim });

    it("keeps status, claim and start, and takes the rest", () => {
      take([held()]);
      const came = task("T1", { status: "done", completed_at: late, title: "New", updated_at: late });
      expect(take([came])).toMatchObject({
        updated: [{ id: "T1", fields: ["title"] }],
        kept: [{ id: "T1", fields: ["status", "claim", "started_at", "completed_at"] }],
      });
      expect(stored("T1")).toMatchObject({ title: "New", status: "in_progress", started_at: early, claim });
      expect(stored("T1")?.completed_at).toBeUndefined();
    });

    it("does not hand it to another agent", () => {
      take([held()]);
      const other = { ...claim, agent: "bob", heartbeat_at: late };
      take([task("T1", { status: "in_progress", updated_at: late, claim: other })]);
      expect(stored("T1")?.claim).toEqual(claim);
    });

    it("takes the status at the next import after the lease ended", () => {
      take([held()]);
      const came = task("T1", { status: "done", completed_at: late, updated_at: late });
      take([came]);
      importRecords(handle.db, [came], {}, { name: "june", at: new Date("2026-11-16T10:00:01.000Z") });
      expect(stored("T1")).toMatchObject({ status: "done" });
      expect(stored("T1")?.claim).toBeUndefined();
    });
  });

  it("counts a time of change in the future as now, and a second import changes nothing", () => {
    const ahead = task("T1", { description: "new", updated_at: "2099-01-01T00:00:00.000Z" });
    take([task("T1")]);
    take([ahead]);
    expect(stored("T1")).toMatchObject({ description: "new", updated_at: now.toISOString() });
    const later = { name: "june", at: new Date("2026-11-17T00:00:00.000Z") };
    expect(importRecords(handle.db, [ahead], {}, later)).toMatchObject({ same: 1, updated: [], kept: [] });
    take([task("T2", { updated_at: "2099-01-01T00:00:00.000Z" })]);
    expect(stored("T2")?.updated_at).toBe(now.toISOString());
  });

  it("logs a dependency that it adds to a task that was here", () => {
    take([task("T1"), task("T2"), waits("T2", "T1")]);
    take([task("T3"), waits("T3", "T1"), waits("T1", "T3", "relates_to"), waits("T2", "T1")]);
    const log = handle.db.prepare("SELECT kind, subject, text FROM activity").all();
    expect(log.map((row) => ({ ...row }))).toEqual([
      { kind: "dependency-added", subject: "T1", text: "by an import: relates to T3" },
    ]);
  });

  it("logs every task that it changes", () => {
    take([task("T1"), task("T2")]);
    take([task("T1", { title: "New", priority: "P0", updated_at: late }), task("T2")]);
    const log = handle.db.prepare("SELECT at, actor, kind, subject, text FROM activity").all();
    expect(log.map((row) => ({ ...row }))).toEqual([
      {
        at: now.toISOString(),
        actor: "june",
        kind: "task-updated",
        subject: "T1",
        text: "by an import: title, priority",
      },
    ]);
  });

  it("leaves out a claim of a task that is not in progress", () => {
    const claim = { agent: "a", claimed_at: early, heartbeat_at: early, lease_until: late };
    const { problems } = take([task("T1", { status: "done", claim })]);
    expect(problems[0]?.text).toContain("claim of a left out");
    expect(stored("T1")?.claim).toBeUndefined();
  });

  it("resolves a blocker that the other side resolved", () => {
    const blocker: WorkRecord = { kind: "blocker", task_id: "T1", reason: "r", actor: "a", created_at: early };
    take([task("T1"), blocker]);
    expect(take([{ ...blocker, resolved_at: late, resolved_by: "b" } as WorkRecord]).updated).toEqual([
      { id: "T1", fields: ["blockers"] },
    ]);
    expect(take([blocker]).kept).toEqual([{ id: "T1", fields: ["blockers"] }]);
    expect(lines().filter((line) => line.includes('"blocker"'))).toHaveLength(1);
  });

  it("makes a story follow its tasks when lines of two branches disagree", () => {
    const story: WorkRecord = {
      kind: "story",
      id: "S1",
      title: "S",
      status: "done",
      created_at: early,
      updated_at: early,
      completed_at: early,
    };
    take([story, task("T1", { story_id: "S1", status: "done" }), task("T2", { story_id: "S1" })]);
    expect(lines().find((line) => line.includes('"story"'))).toContain('"status":"in_progress"');
  });

  it("leaves a story put away that has nothing open in it", () => {
    const story: WorkRecord = {
      kind: "story",
      id: "S1",
      title: "S",
      status: "archived",
      created_at: early,
      updated_at: late,
    };
    take([story, task("T1", { story_id: "S1", status: "done" })]);
    expect(lines().find((line) => line.includes('"story"'))).toContain('"status":"archived"');
    take([task("T2", { story_id: "S1" })]);
    expect(lines().find((line) => line.includes('"story"'))).toContain('"status":"in_progress"');
  });

  it("leaves the queue as one computed from scratch", () => {
    take(everything());
    take([task("T3", { priority: "P0" }), waits("T3", "T2")]);
    const rows = handle.db
      .prepare("SELECT * FROM queue ORDER BY task")
      .all()
      .map((row) => Object.values(row));
    expect(rows).toEqual(computeQueue(handle.db));
    expect(rows.length).toBe(3);
  });

  it("takes two things of one id in one import, as git leaves them after a merge, and says where references went", () => {
    const both = [
      task("T1"),
      task("T1", { title: "Other", created_at: late }),
      task("T2"),
      waits("T2", "T1"),
    ] satisfies WorkRecord[];
    const { problems, added, renamed } = take(both);
    expect(added).toMatchObject({ task: 3, dependency: 1 });
    const to = renamed[0]?.to as string;
    expect(problems).toEqual([
      {
        where: "task T1",
        text: `is the id of 2 different things in the import: all were imported; references point to T1, not to ${to}`,
      },
    ]);
    expect(stored("T1")?.title).toBe("Title of T1");
    expect(stored(to)).toMatchObject({ title: "Other", aliases: ["T1"] });
    const before = lines();
    expect(take(both)).toMatchObject({ same: 4, renamed: [], recognized: [] });
    expect(lines()).toEqual(before);
  });
});
