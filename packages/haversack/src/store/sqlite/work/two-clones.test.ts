/** Clones that gave the same id to different things exchange their exports: nothing is duplicated, and every id still resolves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatRecord,
  type ImportReport,
  parseRecords,
  type TaskRecord,
  type WorkRecord,
} from "../../record-fields.ts";
import type { StoreHandle } from "../access.ts";
import { openMemoryStore } from "../open.ts";
import { Spawns } from "./events/session-tasks.ts";
import { exportRecords } from "./records/export-records.ts";
import { importRecords } from "./records/import-records.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";
import { brokenTruths } from "./work-truths.suite.ts";

const now = new Date("2026-11-16T09:30:00.000Z");
const time = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString();

class Clone {
  readonly handle: StoreHandle = openMemoryStore();
  readonly store = new SqliteWorkStore(this.handle);

  take(records: readonly WorkRecord[], isDryRun = false): ImportReport {
    // Later than every change in these tests.
    return importRecords(this.handle.db, records, { isDryRun }, { name: "cy", at: new Date(time(24 * 60)) });
  }

  /** As text, like a transfer over git. */
  lines(): string[] {
    return [...exportRecords(this.handle.db)].map(formatRecord);
  }

  pull(other: Clone): ImportReport {
    return this.take(parseRecords(other.lines().join("\n")).records);
  }

  task(id: string) {
    return this.store.getTask(id, now);
  }

  titles(): string[] {
    return this.handle.db
      .prepare("SELECT title FROM tasks ORDER BY title")
      .all()
      .map(({ title }) => String(title));
  }
}

function task(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    kind: "task",
    id,
    title: `Title of ${id}`,
    type: "feature",
    status: "todo",
    priority: "P2",
    created_at: time(0),
    updated_at: time(0),
    ...more,
  };
}

/** A clone's project: everything that can collide with the other clone, and everything that refers to it. */
function project(name: string, minutes: number): WorkRecord[] {
  const at = { created_at: time(minutes), updated_at: time(minutes) };
  return [
    { kind: "epic", id: "E4829", title: `${name} epic`, priority: "P1", status: "todo", ...at },
    { kind: "story", id: "S4829", epic_id: "E4829", title: `${name} story`, status: "todo", ...at },
    task("T4829", { title: `${name} task`, story_id: "S4829", status: "blocked", ...at }),
    task(`T${1000 + minutes}`, { title: `${name} child`, parent_id: "T4829", ...at }),
    {
      kind: "dependency",
      task_id: `T${1000 + minutes}`,
      depends_on_id: "T4829",
      type: "blocks",
      created_at: time(minutes),
    },
    { kind: "blocker", task_id: "T4829", reason: `${name} reason`, actor: name, created_at: time(minutes) },
    { kind: "failure", task_id: "T4829", actor: name, created_at: time(minutes), summary: `${name} failure` },
    {
      kind: "handoff",
      id: "H4829",
      task_id: "T4829",
      role: "implementer",
      attempt: 1,
      status: "FAIL",
      summary: `${name} handoff`,
      actor: name,
      created_at: time(minutes),
    },
    { kind: "agent", name: "june", role: "implementer", created_at: time(0) },
    {
      kind: "message",
      id: "M4829",
      from: name,
      text: `${name} message`,
      subject: "T4829",
      created_at: time(minutes),
      readers: [{ agent: "june", is_mention: true }],
    },
    {
      kind: "skill_use",
      at: time(minutes),
      agent: name,
      task_id: "T4829",
      skill: "tdd",
      hash: `${name}-hash`,
      because: "named by the task",
    },
    { kind: "activity", at: time(minutes), actor: name, activity: "note", subject: "T4829", text: `${name} activity` },
  ];
}

function pair(): { ann: Clone; ben: Clone } {
  const [ann, ben] = [new Clone(), new Clone()];
  ann.take(project("ann", 1));
  ben.take(project("ben", 2));
  return { ann, ben };
}

const isQuiet = ({ added, updated, renamed, recognized, problems }: ImportReport) =>
  Object.values(added).every((count) => count === 0) &&
  [updated, renamed, recognized, problems].every((list) => list.length === 0);

describe("two clones with the same ids for different things", () => {
  it("rename what comes, with all that refers to it, and keep the old id as an alias", async () => {
    const { ann, ben } = pair();
    const { renamed, recognized, problems } = ann.pull(ben);
    expect([recognized, problems]).toEqual([[], []]);
    expect(renamed.map(({ from }) => from)).toEqual(["E4829", "S4829", "T4829", "H4829", "M4829"]);
    const to = Object.fromEntries(renamed.map((entry) => [entry.from, entry.to]));
    for (const [from, id] of Object.entries(to)) expect(id).toMatch(new RegExp(`^${from[0]}[1-9]\\d{3}$`));
    // Existing tasks kept their ids.
    expect((await ann.task("T4829")).title).toBe("ann task");
    expect(await ann.task(to["T4829"] ?? "")).toMatchObject({ title: "ben task", aliases: ["T4829"] });
    const bens = ann.lines().filter((line) => /"ben |"ben"/.test(line) && !line.includes("child"));
    expect(bens).toHaveLength(9);
    for (const line of bens) {
      // The old id appears only as an alias.
      expect(line.replace(/"aliases":\[[^\]]*\],/, "")).not.toMatch(/[ESTHM]4829/);
    }
    expect((await ann.task("T1002")).parentId).toBe(to["T4829"]);
    expect((await ann.task("T1002")).waitsFor).toMatchObject([{ id: to["T4829"] }]);
    expect(brokenTruths(ann.handle.db, now)).toEqual([]);
  });

  it("exchange again and again, in both directions, and nothing is added, renamed or doubled", async () => {
    const { ann, ben } = pair();
    const titles = ["ann child", "ann task", "ben child", "ben task"];
    const first = ann.pull(ben);
    expect(isQuiet(ann.pull(ben))).toBe(true);

    // Ben's own tasks come back with the ids that they have in ann's store.
    const back = ben.pull(ann);
    expect(back.problems).toEqual([]);
    expect(back.renamed.map(({ from }) => from)).toEqual(["E4829", "S4829", "T4829", "H4829", "M4829"]);
    expect(back.recognized).toEqual(first.renamed.map(({ from, to }) => ({ from: to, to: from })));
    for (let round = 0; round < 2; round++) {
      for (const [one, other] of [
        [ben, ann],
        [ann, ben],
      ] as const) {
        const again = one.pull(other);
        // In the first round, ann still learns ben's ids for her tasks.
        if (round > 0 || one === ben) expect(isQuiet(again)).toBe(true);
        expect(again.problems).toEqual([]);
        expect(again.renamed).toEqual([]);
      }
    }
    for (const clone of [ann, ben]) {
      expect(clone.titles()).toEqual(titles);
      expect(brokenTruths(clone.handle.db, now)).toEqual([]);
    }

    // The other clone's id is found here, unless something here has exactly that id.
    const theirs = first.renamed.find(({ from }) => from === "T4829")?.to ?? "";
    const ours = back.renamed.find(({ from }) => from === "T4829")?.to ?? "";
    expect((await ben.task(theirs)).title).toBe("ben task");
    expect((await ann.task(ours)).title).toBe("ann task");
    expect((await ben.task("T4829")).title).toBe("ben task");
    expect((await ben.task(ours)).title).toBe("ann task");
    expect((await ben.store.findId(theirs.toLowerCase())).id).toBe("T4829");
    // A prompt that names ben's id binds a sub-agent of ann's to the right task; a blocked one binds none.
    expect(new Spawns(ann.handle).firstOpen([ours])).toBeUndefined();
    await ann.store.resolveBlockers({ taskId: ours }, { name: "ann", at: now });
    expect(new Spawns(ann.handle).firstOpen(["T0000", ours])).toBe("T4829");
  });

  it("know a renamed thing again when its title has changed since", () => {
    const { ann, ben } = pair();
    const to = ann.pull(ben).renamed.find(({ from }) => from === "T4829")?.to;
    ben.handle.db.exec(`UPDATE tasks SET title = 'ben task, later', updated_at = '${time(60)}' WHERE id = 'T4829'`);
    const report = ann.pull(ben);
    expect([report.renamed, report.updated]).toEqual([[], [{ id: to, fields: ["title"] }]]);
    expect(ann.titles()).toEqual(["ann child", "ann task", "ben child", "ben task, later"]);
  });

  it("bring a third clone the same four tasks, whichever comes first", () => {
    for (const isSwapped of [false, true]) {
      for (const haveMet of [false, true]) {
        const { ann, ben } = pair();
        if (haveMet) {
          ann.pull(ben);
          ben.pull(ann);
        }
        const cy = new Clone();
        const order = isSwapped ? [ben, ann] : [ann, ben];
        for (const other of [...order, ...order]) expect(cy.pull(other).problems).toEqual([]);
        for (const clone of [ann, ben]) {
          clone.pull(cy);
          expect(clone.pull(cy).renamed).toEqual([]);
          expect(clone.titles()).toEqual(["ann child", "ann task", "ben child", "ben task"]);
        }
        expect(cy.titles()).toEqual(["ann child", "ann task", "ben child", "ben task"]);
        for (const other of order) expect(cy.pull(other).renamed).toEqual([]);
      }
    }
  });

  it("change nothing in a dry run, and take a partial file by the names they know", async () => {
    const { ann, ben } = pair();
    const before = ann.lines();
    const dry = ann.take(parseRecords(ben.lines().join("\n")).records, true);
    expect(ann.lines()).toEqual(before);
    expect(dry.renamed).toHaveLength(5);
    const to = ann.pull(ben).renamed.find(({ from }) => from === "T4829")?.to ?? "";
    ben.pull(ann);
    const late = { kind: "failure", task_id: to, actor: "cy", created_at: time(9), summary: "late" } as const;
    expect(ben.take([late]).added.failure).toBe(1);
    expect((await ben.store.listFailures("T4829")).map(({ summary }) => summary)).toContain("late");
  });

  it("mix old ids of twelve digits with short ones", async () => {
    const [ann, ben] = [new Clone(), new Clone()];
    const old = task("T482913577204", { title: "old" });
    ann.take([old, task("T4829", { title: "ann", created_at: time(1) })]);
    ben.take([old, task("T4829", { title: "ben", created_at: time(2) })]);
    const report = ann.pull(ben);
    expect(report).toMatchObject({ same: 1, renamed: [{ from: "T4829" }] });
    expect((await ann.task("T482913577204")).title).toBe("old");
    expect((await ann.task("T48291")).title).toBe("old");
    expect((await ann.task("T4829")).title).toBe("ann");
  });

  it("give no new id that another record of the import has", () => {
    const ann = new Clone();
    // The import has almost all four-digit ids, and half of them collide: any drawn id would take another's place.
    const theirs = Array.from({ length: 600 }, (_, at) => task(`T${1000 + at * 15}`, { title: `theirs ${at}` }));
    const mine = theirs
      .slice(0, 300)
      .map((record, at) => ({ ...record, title: `mine ${at}`, created_at: time(5), updated_at: time(5) }));
    ann.take(mine);
    const report = ann.take(theirs);
    expect(report.renamed).toHaveLength(300);
    expect(ann.titles()).toHaveLength(900);
    expect(new Set(ann.titles()).size).toBe(900);
    expect(ann.take(theirs)).toMatchObject({ same: 600, renamed: [] });
  });

  it("never lose or double a task, whatever they make and in whatever order they exchange", () => {
    const step = fc.oneof(
      // Only six ids, so collisions are common.
      fc.record({ clone: fc.nat(2), make: fc.integer({ min: 1000, max: 1005 }) }),
      fc.record({ clone: fc.nat(2), from: fc.nat(2) }),
      fc.record({ clone: fc.nat(2), retitle: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const clones = [new Clone(), new Clone(), new Clone()];
        let minutes = 0;
        const made = new Set<string>();
        for (const { clone: index, ...what } of steps) {
          const clone = clones[index] as Clone;
          minutes++;
          if ("make" in what) {
            const id = `T${what.make}`;
            const isTaken = clone.handle.db.prepare("SELECT 1 FROM tasks WHERE id = ?").get(id);
            if (isTaken) continue;
            made.add(time(minutes));
            clone.take([task(id, { title: `made ${minutes}`, created_at: time(minutes), updated_at: time(minutes) })]);
          } else if ("from" in what) {
            const report = clone.pull(clones[what.from] as Clone);
            expect(report.problems).toEqual([]);
            expect(isQuiet(clone.pull(clones[what.from] as Clone))).toBe(true);
          } else {
            const sql =
              "UPDATE tasks SET title = ?, updated_at = ? WHERE seq = (SELECT seq FROM tasks ORDER BY seq LIMIT 1 OFFSET ?)";
            clone.handle.db.prepare(sql).run(`retitled ${minutes}`, time(minutes), what.retitle);
          }
        }
        // Every clone pulls from every other: three rounds reach all.
        for (let round = 0; round < 3; round++) {
          for (const one of clones) for (const other of clones) one.pull(other);
        }
        for (const clone of clones) {
          const times = clone.handle.db.prepare("SELECT created_at FROM tasks ORDER BY created_at").all();
          expect(times.map(({ created_at }) => created_at)).toEqual([...made].sort());
          expect(brokenTruths(clone.handle.db, now)).toEqual([]);
          for (const other of clones) expect(clone.pull(other).renamed).toEqual([]);
        }
      }),
      { numRuns: 30 },
    );
  });
});
