/** Results of tasks: store, show, archive when the work is completed, and restore. */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import {
  decayHandoffs,
  type FoundHandoff,
  getHandoff,
  listHandoffs,
  restoreHandoffs,
  setHandoff,
} from "../../engine/work/handoffs.ts";
import { listed } from "../../engine/work/work-parts.ts";
import type { FitOptions } from "../../work/fit-list.ts";
import { type Handoff, VERDICTS } from "../../work/handoff.ts";
import { viewHandoff } from "../../work/task-view.ts";
import {
  type Command,
  type ExitCode,
  eachOne,
  eachTask,
  flag,
  type Io,
  option,
  print,
  sayNote,
  several,
  wholeNumber,
} from "../command.ts";
import { block, type Cell, commandLine, fields, formatAgo, printList } from "../print-work.ts";
import { paint, wrapColumns } from "../terminal.ts";
import {
  inputOf,
  LIST_INPUT,
  type OpenWork,
  openWork,
  readFileOrStdin,
  readList,
  readText,
  refuse,
  TASK,
  TASKS,
} from "../work.ts";
import { AGENT, EPIC, FIELDS, listOptions, oneOf, STORY, text } from "../work-options.ts";

function formatHandoff(io: Io, handoff: Handoff, now: Date): string {
  const { id, taskId, role, attempt, status, summary, filesChanged, detailsChars, actor, createdAt } = handoff;
  const { style, text } = verdictCell(status);
  return [
    `${id}  ${style ? paint(io, style, text) : text} for ${taskId}`,
    ...fields(io, [
      ["role", `${cleanLine(role)}, attempt ${attempt}`],
      ["by", `${cleanLine(actor)}, ${formatAgo(createdAt, now)}`],
      ["files", handoff.state === "archived" ? "" : filesChanged.map((file) => cleanLine(file)).join(", ")],
      ["details", detailsChars > 0 ? `${detailsChars} characters${STATE[handoff.state]}` : undefined],
    ]),
    // Archived handoffs show their summary only after they are restored.
    ...(handoff.state === "archived" ? [] : ["", block(stripControl(summary).trimEnd())]),
  ].join("\n");
}

const STATE: Record<Handoff["state"], string> = {
  whole: "",
  compacted: ", in the archive",
  archived: ", in the archive",
};

function verdictCell(status: Handoff["status"]): Cell {
  return { text: status, style: status === "PASS" ? "green" : "red" };
}

const handoffSet: Command = {
  spec: {
    about:
      "Stores the result of a task: a verdict, a summary, and details of any size, which are kept whole and read only on request. There is one per task, role and attempt; a stored attempt is never replaced, and the default is the next attempt.",
    arguments: [TASK],
    options: {
      status: option("VERDICT", `Required: ${oneOf(VERDICTS)}.`, { choices: VERDICTS }),
      summary: text("Required: the result in a few sentences"),
      role: option("ROLE", "Who did it, such as spec-reviewer (default implementer)."),
      attempt: wholeNumber("N", "Which attempt (default: the next one)."),
      files: option("PATH", "A file that was changed; repeat it, or separate several by commas.", { repeat: true }),
      details: option("FILE", "A file with the details; - reads standard input."),
      agent: AGENT,
    },
    examples: [
      {
        run: "haversack handoff set T4829 --status PASS --summary 'Login works, 12 tests' --files src/login.ts",
        says: "a result",
      },
      {
        run: "npm test 2>&1 | haversack handoff set T4829 --status FAIL --summary '2 tests fail' --details -",
        says: "with the whole output",
      },
    ],
    json: "{id, task_id, status, summary}.",
  },
  async run(call): Promise<ExitCode> {
    const work = await openWork(call, "save");
    const [taskId = ""] = call.arguments;
    const { status, details: file } = call.options as { status?: string; details?: string };
    if (!status) throw new HaversackError("usage", `handoff set needs --status: ${oneOf(VERDICTS)}`);
    const summary = await readText(call, call.options["summary"] as string | undefined);
    if (summary === undefined) throw new HaversackError("usage", "handoff set needs --summary TEXT");
    const details = file === undefined ? undefined : await readFileOrStdin(call, file);
    const filesChanged = readList(call.options["files"]);
    const { handoff, view } = await setHandoff(
      {
        taskId,
        status,
        summary,
        ...inputOf<Parameters<typeof setHandoff>[0]>(call, { role: "role", attempt: "attempt" }),
        ...(filesChanged && { filesChanged }),
        ...(details !== undefined && { details }),
      },
      work,
    );
    print(call, { id: handoff.id, task_id: handoff.taskId, ...view }, () => {
      const { id, role, attempt } = handoff;
      return `${handoff.status} for ${handoff.taskId} stored as ${id} (${cleanLine(role)}, attempt ${attempt}).`;
    });
    return 0;
  },
};

const handoffShow: Command = {
  spec: {
    about:
      "Shows the latest handoff of tasks, or the latest of a role, attempt or verdict. --details adds its details: all of them at a terminal (through $PAGER if they are longer than the screen), and one page at a time in a pipe or with --json. The details of completed work are archived; `handoff restore` brings them back. Exit 1 if there is no handoff.",
    arguments: [TASKS],
    options: {
      role: option("ROLE", "The latest of this role."),
      attempt: wholeNumber("N", "The handoff of this attempt."),
      status: option("VERDICT", "The latest of this verdict.", { choices: VERDICTS }),
      details: flag("Include its details."),
      from: option("N", "Show one page of details, from this character on (default 0).", {
        type: "integer",
        minimum: 0,
      }),
      "max-chars": wholeNumber("N", "Characters per page (default 20000)."),
    },
    examples: [
      { run: "haversack handoff show T4829", says: "verdict and summary" },
      { run: "haversack handoff show T4829 --details --role spec-reviewer", says: "what the reviewer wrote" },
      { run: "haversack handoff show T4829 --details --status FAIL", says: "what is to be fixed" },
    ],
    json: `${several("{id, task_id, role, attempt, status, summary, files_changed?, details_chars?, full_details?, next_from?, note?}")} Pages after the first have only id, task_id, full_details and next_from.`,
  },
  run: eachOne(async (call) => {
    const work = await openWork(call, "read");
    const [taskId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof getHandoff>[0]>(call, {
      role: "role",
      attempt: "attempt",
      status: "status",
      includeDetails: "details",
      from: "from",
      maxChars: "max-chars",
    });
    const isPage = call.options["from"] !== undefined || call.options["max-chars"] !== undefined;
    const found = await getHandoff({ taskId, ...input, ...(isPage && { includeDetails: true }) }, work);
    if (found.kind === "none") return refuse(call, found);
    const { handoff, details, total, note } = found;
    // Paging is for machines, which pay for every character. A terminal gets everything.
    const isWhole = call.io.isTerminal && !call.json && !isPage && found.nextFrom !== undefined;
    const rest = isWhole ? await restOf(found, { taskId, ...input }, work) : "";
    const nextFrom = isWhole ? undefined : found.nextFrom;
    const text = () => {
      const head = wrapColumns(formatHandoff(call.io, handoff, work.by.at), call.io.width);
      return details ? `${head}\n\n${stripControl(details + rest)}` : head;
    };
    const data = { id: handoff.id, task_id: handoff.taskId, ...found.view };
    if (call.json || !call.io.page) print(call, data, text, { isVerbatim: true });
    else await call.io.page(`${text().trimEnd()}\n`);
    if (note) sayNote(call.io, `${handoff.id}: ${note}`);
    if (nextFrom !== undefined) {
      const next = commandLine(call, { from: nextFrom });
      sayNote(call.io, `the details go on, ${nextFrom} of ${total} characters so far; \`${next}\` shows more`);
    }
    return 0;
  }),
};

/** The pages after the first. */
async function restOf(
  { handoff, nextFrom }: FoundHandoff,
  input: Parameters<typeof getHandoff>[0],
  work: OpenWork,
): Promise<string> {
  const { role, attempt } = handoff;
  let rest = "";
  for (let from = nextFrom; from !== undefined; ) {
    // By role and attempt, because another handoff may be stored meanwhile.
    const page = await getHandoff({ taskId: input.taskId, role, attempt, from }, work);
    if (page.kind === "none") break;
    rest += page.details ?? "";
    from = page.nextFrom;
  }
  return rest;
}

const { limit, "max-tokens": maxTokensOption } = listOptions(50);

const handoffList: Command = {
  spec: {
    about:
      "Lists handoffs, newest first: all, or those of tasks. --archived adds those that a completed epic has archived.",
    arguments: [{ ...TASK, about: `${TASK.about} (default: all tasks)`, required: false, many: true }],
    options: {
      task: option("ID", "The same as TASK."),
      epic: EPIC,
      story: STORY,
      archived: flag("Include archived handoffs."),
      limit,
      "max-tokens": maxTokensOption,
      fields: { ...FIELDS, about: "What --json prints of each: minimal (verdict and summary), standard or full." },
    },
    examples: [
      { run: "haversack handoff list --story S4829", says: "the results of its tasks" },
      { run: "haversack handoff list T4829 --archived", says: "every attempt at one task" },
    ],
    json: "[{id, task_id, role, attempt, status, summary}]; --fields standard and full add more. If some are left out, a note says how to get them.",
  },
  run: eachOne(
    async (call): Promise<ExitCode> => {
      const work = await openWork(call, "read");
      const input = inputOf<Parameters<typeof listHandoffs>[0]>(call, {
        taskId: "task",
        epicId: "epic",
        storyId: "story",
        includeArchived: "archived",
        limit: "limit",
      });
      const [named] = call.arguments;
      if (named !== undefined && input.taskId !== undefined) {
        throw new HaversackError("usage", "TASK and --task cannot be used together");
      }
      const taskId = named ?? input.taskId;
      // An unknown task is an error, not a task without handoffs.
      if (taskId !== undefined) await work.store.getTask(taskId, work.by.at);
      const { items, total } = await listHandoffs({ limit: 50, ...input, taskId }, work);
      const { fields = "minimal", maxTokens } = inputOf<FitOptions<Handoff>>(call, LIST_INPUT);
      printList(call, {
        nouns: ["handoff", "handoffs"],
        listed: listed({ items, total }, { view: viewHandoff, fields, maxTokens, offset: 0 }),
        row: ({ id, taskId, role, attempt, status, summary, createdAt }) => [
          { text: id },
          { text: taskId },
          verdictCell(status),
          { text: `${cleanLine(role)} ${attempt}` },
          { text: formatAgo(createdAt, work.by.at), style: "dim" },
          { text: cleanLine(summary, { maxChars: 200 }) },
        ],
        none: "No handoffs.",
        isUnpaged: true,
      });
      return 0;
    },
    { isList: true },
  ),
};

const handoffDecay: Command = {
  spec: {
    about:
      "Archives handoffs of completed work: the details of a completed story, and whole handoffs of a completed epic. This happens by itself when one completes; the command does it by hand. Failed and blocked ones stay as they are. Nothing is lost: `haversack handoff restore` brings them back.",
    options: {
      epic: EPIC,
      story: STORY,
      force: flag("Archive even if the story or epic is not complete; needs --epic or --story."),
      "include-failed": flag("Include failed and blocked ones."),
      agent: AGENT,
    },
    examples: [
      { run: "haversack handoff decay", says: "what complete stories and epics allow" },
      { run: "haversack handoff decay --story S4829 --force", says: "this story, complete or not" },
    ],
    json: "{compacted, archived}: how many.",
  },
  async run(call): Promise<ExitCode> {
    const work = await openWork(call, "save");
    const input = inputOf<Parameters<typeof decayHandoffs>[0]>(call, {
      epicId: "epic",
      storyId: "story",
      isForced: "force",
      includeFailed: "include-failed",
    });
    if (input.isForced && input.epicId === undefined && input.storyId === undefined)
      throw new HaversackError("usage", "--force needs --epic or --story: without them it would archive every handoff");
    const { compacted, archived } = await decayHandoffs(input, work);
    print(call, { compacted, archived }, () => {
      if (compacted + archived === 0) return "Nothing to archive.";
      return `The details of ${handoffs(compacted)} and ${handoffs(archived)} as a whole were archived.`;
    });
    return 0;
  },
};

function handoffs(count: number): string {
  return `${count} ${count === 1 ? "handoff" : "handoffs"}`;
}

const handoffRestore: Command = {
  spec: {
    about: "Brings handoffs back from the archive: single ones, or all of a task, a story or an epic.",
    arguments: [{ name: "ID", about: "handoffs, tasks, stories or epics", required: true, many: true }],
    options: { agent: AGENT },
    examples: [{ run: "haversack handoff restore S4829 E1207", says: "all handoffs of a story and an epic" }],
    json: several("{id, restored}, where restored is a count"),
  },
  async run(call) {
    const work = await openWork(call, "save");
    return eachTask(call, call.arguments, async (wanted) => {
      const { id } = await work.store.findId(wanted);
      const { restored } = await restoreHandoffs({ id }, work);
      const text = restored === 0 ? `Nothing of ${id} is in the archive.` : `Restored ${handoffs(restored)} of ${id}.`;
      return { kind: "done", view: { id, restored }, text };
    });
  },
};

export const commands: Readonly<Record<string, Command>> = {
  "handoff set": handoffSet,
  "handoff show": handoffShow,
  "handoff list": handoffList,
  "handoff decay": handoffDecay,
  "handoff restore": handoffRestore,
};
