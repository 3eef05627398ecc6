/** Who is dispatched next across several stories. For one task, see next-action.test.ts. */
import { expect, it } from "vitest";
import type { TreeTask, WakeHandoff, WakeStory } from "./state.ts";
import { emptyState, handoff } from "./wake-scenes.suite.ts";
import { firstInTurn, nextDispatches } from "./workflow.ts";

const built = { id: "T2", title: "Add login", status: "review" } as const;
const spec = { id: "T22", title: "Spec review", status: "todo", parentId: "T2" } as const;
const quality = { id: "T23", title: "Code quality review", status: "todo", parentId: "T2" } as const;
const other = { id: "T3", title: "Add JWT", status: "todo" } as const;

function story(tree: TreeTask[], ready: TreeTask[] = tree.filter(({ status }) => status === "todo")): WakeStory {
  return { id: "S1", title: "Auth", done: 0, total: tree.length, tree, ready };
}

const next = (stories: WakeStory[], handoffs: WakeHandoff[] = []) => nextDispatches(emptyState({ stories, handoffs }));

it("waits for a review that runs before it proposes the next, and never proposes a review as a task of its own", () => {
  const running = { ...spec, status: "in_progress" as const, agent: "rev" };
  expect(next([story([built, running, quality, other])])).toEqual([
    'Dispatch implementer for what is ready: T3 "Add JWT".',
    'Check whether @rev has finished T22 "Spec review".',
  ]);
  expect(next([story([built, spec, quality])])).toEqual(['Dispatch spec-reviewer for T2 "Add login".']);
  const passed = handoff({ taskId: "T22" });
  expect(next([story([built, running, quality])], [passed])).toEqual([
    'Mark T22 "Spec review" done: it passed.',
    'Dispatch quality-reviewer for T2 "Add login".',
  ]);
});

it("puts what is to be done before whom to wait for, over all stories", () => {
  const held = { id: "T9", title: "Docs", status: "in_progress", agent: "docs" } as const;
  const ready = ["a", "b", "c", "d"].map((title) => ({ id: `T${title}`, title, status: "todo" as const }));
  expect(next([story([held]), story([built]), story([{ ...held, id: "T8", status: "blocked" }, ...ready])])).toEqual([
    'Dispatch spec-reviewer for T2 "Add login".',
    'Dispatch implementer for what is ready: Ta "a", Tb "b", Tc "c"; `haversack next` has more.',
    'Check whether @docs has finished T9 "Docs".',
  ]);
});

it("offers no review before its turn", () => {
  const turn = (tree: TreeTask[], handoffs: WakeHandoff[] = []) =>
    firstInTurn([quality, other], { tree, handoffs })?.id;
  expect(turn([built, spec, quality])).toBe("T3");
  expect(turn([built, { ...spec, status: "done" }, quality])).toBe("T23");
  expect(turn([{ ...built, status: "in_progress" }, { ...spec, status: "done" }, quality])).toBe("T3");
  expect(turn([built, quality], [handoff()])).toBe("T23");
  // A review whose subject is unknown is a task like any other.
  expect(turn([])).toBe("T23");
});
