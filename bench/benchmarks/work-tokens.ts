/**
 * What a model reads about work: the tool listing, lists, batches, replies, in exact o200k tokens, through the tools themselves on a
 * store of 10,000 tasks. Compared with the cost of other trackers, measured on their public releases in November 2026 with the
 * same tokenizer.
 */
import { digitsFor } from "../../packages/haversack/src/base/ids.ts";
import { LiveSkills } from "../../packages/haversack/src/engine/live-skills.ts";
import { KeptProject } from "../../packages/haversack/src/engine/open-project.ts";
import { LiveWork } from "../../packages/haversack/src/engine/work/live-work.ts";
import type { ServerParts } from "../../packages/haversack/src/mcp/server.ts";
import type { Tool } from "../../packages/haversack/src/mcp/tool.ts";
import { describeTool, isOffered, TOOLS, toolsOf } from "../../packages/haversack/src/mcp/tools.ts";
import type { WorkRecord } from "../../packages/haversack/src/store/record-fields.ts";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import type { Benchmark } from "../harness.ts";
import { makeScratch } from "../scratch.ts";

const TASKS = 10_000;
const AT = "2031-05-06T07:00:00.000Z";
const TITLES = [
  "Add login form validation",
  "Fix token expiry check",
  "Write the API tests",
  "Refactor session store",
  "Document the retry policy",
];
/** Every token of a title counts 50 times in a list, so the list is also counted with longer titles. */
const LONGER_TITLES = [
  "Implement user password reset flow",
  "Make the build faster again",
  "Remove the old session table",
];
/** Long enough that repeating it in a reply would be noticeable. */
const SUMMARY =
  "The login form now checks the address and the password on every key and shows what is wrong below the field. All 42 tests are green, two of them new. The old check at submission is gone. ".repeat(
    8,
  );

/** Titles of the usual length: 50 of them alone are about 500 tokens, line breaks included. */
const USUAL_TITLES = [
  "Show the retry count beside each failed background job",
  "Reject uploads whose declared type differs from content",
  "Move the invoice totals into one database transaction",
  "Cache the permission lookup for the length of a request",
  "Warn before an export that leaves out archived projects",
];

const OTHERS = {
  listing:
    "dex 1,102 (3 tools) · task-master 1,533 (7) to 8,618 (44) · claude-mem 1,931 (15) · ohno 3,600 (37) · Backlog.md 4,223 (20) · claude-flow 57,056 (353)",
  usual: "Backlog.md 756 for 50 such rows in a project of 50",
  next: "Backlog.md 16",
  list: "seeds 1,104 (50 rows) · dex 156,000 · Backlog.md 280,000 · task-master 2,000,000 (all rows)",
  minimal: "ohno's minimal has 13 fields: 19,900 characters where id, title and status are 2,200",
};

export const workTokens: Benchmark = {
  name: "work-tokens",
  summary: "tokens of the tools' listing and of their answers, on 10,000 tasks",
  async run() {
    const count = await loadCounter();
    const scratch = makeScratch();
    const project = new KeptProject({ cwd: scratch.root, env: scratch.env });
    const parts: ServerParts = {
      work: new LiveWork(project),
      skills: new LiveSkills({ project, log: () => undefined }),
      env: scratch.env,
      hook: () => "{}",
      offReason: () => undefined,
      log: () => undefined,
    };
    try {
      const call = { parts, marks: { sessionId: "bench" }, client: "bench", at: new Date(AT) };
      await parts.work.write(call, ({ store, by }) => store.importRecords(records(), {}, by));
      const ask = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
        const tool = TOOLS.find((candidate) => candidate.name === name);
        const { text, isError } = (await tool?.run(input as never, call)) ?? { text: "no such tool", isError: true };
        if (isError) throw new Error(`${name}: ${text}`);
        return text;
      };
      const withRecall = toolsOf("default");
      const listed = withRecall.filter((tool) => isOffered(tool, { isAll: false, config: undefined }));
      const listing = (tools: readonly Tool[]) => count(JSON.stringify({ tools: tools.map(describeTool) }));
      const list = await ask("get_tasks");
      const longer = withTitles(list, LONGER_TITLES);
      const usual = withTitles(list, USUAL_TITLES);
      const titlesAlone = usual.replace(/^T\d+ /gm, "").replace(/\n\d+ left out.*$/, "");
      const next = withTitles(await ask("get_next_batch", { limit: 1 }), USUAL_TITLES);
      const batch = await ask("get_next_batch", { limit: 3 });
      const [first = "", second = "", third = ""] = list.match(/^T\d+/gm) ?? [];
      const handoff = await ask("set_task_handoff", {
        task_id: first,
        status: "BLOCKED",
        summary: SUMMARY,
        full_details: "One line of many.\n".repeat(100_000),
      });
      for (const id of [first, second, third]) {
        await ask("update_task_status", { task_id: id, status: "in_progress" });
        await ask("update_task_wip", {
          task_id: id,
          wip_data: { phase: "testing", next_step: "fix the failing test" },
        });
      }
      const context = await ask("get_session_context");
      const status = await ask("update_task_status", { task_id: second, status: "done" });
      const rows: [string, number, string][] = [
        [`tools/list with default settings (${listed.length} tools)`, listing(listed), OTHERS.listing],
        ["the same where outputs are replaced, with `recall`", listing(withRecall), ""],
        [`tools/list, --tools all (${toolsOf("all").length} tools)`, listing(toolsOf("all")), ""],
        [`get_tasks of 10,000: 50 minimal, titles of ${titleTokens(TITLES, count)} tokens`, count(list), OTHERS.list],
        [`the same with titles of ${titleTokens(LONGER_TITLES, count)} tokens`, count(longer), ""],
        [`the same with usual titles; they alone have ${count(titlesAlone)}`, count(usual), OTHERS.usual],
        ["the next task, usual title", count(next), OTHERS.next],
        ["the first list in characters", list.length, OTHERS.minimal],
        ["get_next_batch, 3 tasks", count(batch), ""],
        ["get_session_context, 3 begun and the next", count(context), ""],
        ["set_task_handoff's reply, 1.8 MB stored", count(handoff), ""],
        ["update_task_status' reply", count(status), ""],
      ];
      const goal = (name: string, value: number, limit: number) =>
        ({ name, value, limit, side: "at-most", unit: " tokens" }) as const;
      return {
        table: { columns: ["what a model reads", "tokens", "others"], rows },
        goals: [
          goal("tools/list with default settings", listing(listed), 1000),
          goal(`50 tasks, minimal, titles of ${titleTokens(TITLES, count)} tokens`, count(list), 500),
          goal(`50 tasks, minimal, titles of ${titleTokens(LONGER_TITLES, count)} tokens`, count(longer), 550),
          goal(`50 tasks, minimal, usual titles (${count(titlesAlone)} alone)`, count(usual), 700),
          goal("the next task, usual title", count(next), 18),
          goal("next batch of 3", count(batch), 120),
          goal("set_task_handoff's reply", count(handoff), 60),
          goal("session context", count(context), 400),
        ],
        data: Object.fromEntries(rows.map(([name, tokens]) => [name, tokens])),
      };
    } finally {
      parts.work.close();
      parts.skills.close();
      scratch.remove();
    }
  },
};

function withTitles(list: string, titles: readonly string[]): string {
  let at = 0;
  return list.replace(/^(T\d+) .*$/gm, (_, id: string) => `${id} ${titles[at++ % titles.length]}`);
}

/** The average, to one decimal. */
function titleTokens(titles: readonly string[], count: (text: string) => number): number {
  const total = titles.reduce((sum, title) => sum + count(title), 0);
  return Math.round((total / titles.length) * 10) / 10;
}

function* records(): Generator<WorkRecord> {
  // IDs as long as in a project of this size. The step shares no factor with the count, so no ID repeats.
  const first = 10 ** (digitsFor(TASKS) - 1);
  for (let number = 0; number < TASKS; number++) {
    yield {
      kind: "task",
      id: `T${first + ((number * 7_368_787 + 104_729) % (9 * first))}`,
      title: TITLES[number % TITLES.length] ?? "",
      type: "feature",
      status: "todo",
      priority: "P2",
      description: "What is to be done, in a few sentences that a list does not need.",
      created_at: AT,
      updated_at: AT,
    };
  }
}
