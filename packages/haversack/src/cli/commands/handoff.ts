/** What came of a task: stored, shown, shrunk once it is old, and brought back. */
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
import { type Command, type Io, print } from "../command.ts";
import { TASK } from "../each-task.ts";
import { block, type Cell, commandLine, fields, formatAgo, printList } from "../print-work.ts";
import { paint } from "../terminal.ts";
import {
  inputOf,
  LIST_INPUT,
  type OpenWork,
  readFileOrStdin,
  readList,
  readText,
  readWork,
  refuse,
  withWork,
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
    // What is in the archive is shown once it is back.
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

export const handoffSet: Command = {
  spec: {
    about:
      "Stores what came of a task: a verdict, a summary, and details of any size, which are kept whole and read only on request. One per task, role and attempt; a stored attempt is never replaced, and without --attempt it is the next one.",
    arguments: [TASK],
    options: {
      status: { type: "string", value: "VERDICT", choices: VERDICTS, about: `Required: ${oneOf(VERDICTS)}.` },
      summary: text("Required: the result in a few sentences"),
      role: { type: "string", value: "NAME", about: "Who did it, such as spec-reviewer (default implementer)." },
      attempt: { type: "integer", value: "N", minimum: 1, about: "Which attempt (default: the next one)." },
      files: {
        type: "string",
        value: "PATH",
        repeat: true,
        about: "A file that was changed; repeat it, or separate several by commas.",
      },
      details: { type: "string", value: "FILE", about: "A file with the details; - reads standard input." },
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
  run(call) {
    return withWork(call, async (work) => {
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
    });
  },
};

export const handoffShow: Command = {
  spec: {
    about:
      "Shows a task's latest handoff, or the latest of a role, attempt or verdict. --details adds its details: all of them at a terminal (through $PAGER if they are longer than the screen), and one page at a time in a pipe or with --json. The details of completed work are archived; `restore` brings them back. Exit 1 if there is no handoff.",
    arguments: [TASK],
    options: {
      role: { type: "string", value: "NAME", about: "The latest of this role." },
      attempt: { type: "integer", value: "N", minimum: 1, about: "The handoff of this attempt." },
      status: { type: "string", value: "VERDICT", choices: VERDICTS, about: "The latest of this verdict." },
      details: { type: "boolean", about: "Show its details, too." },
      from: {
        type: "integer",
        value: "N",
        minimum: 0,
        about: "Show one page of details, from this character on (default 0).",
      },
      "max-chars": { type: "integer", value: "N", minimum: 1, about: "Characters per page (default 20000)." },
    },
    examples: [
      { run: "haversack handoff show T4829", says: "verdict and summary" },
      { run: "haversack handoff show T4829 --details --role spec-reviewer", says: "what the reviewer wrote" },
      { run: "haversack handoff show T4829 --details --status FAIL", says: "what is to be fixed" },
    ],
    json: "{id, task_id, role, attempt, status, summary, files_changed?, details_chars?, full_details?, next_from?, note?}; pages after the first have only id, task_id, full_details and next_from.",
  },
  run(call) {
    return readWork(call, async (work) => {
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
      // Pages are for machines, which pay for every character.
      const isWhole = call.io.isTerminal && !call.json && !isPage && found.nextFrom !== undefined;
      const rest = isWhole ? await restOf(found, { taskId, ...input }, work) : "";
      const nextFrom = isWhole ? undefined : found.nextFrom;
      const text = () => {
        const head = formatHandoff(call.io, handoff, work.by.at);
        return details ? `${head}\n\n${stripControl(details + rest)}` : head;
      };
      if (call.json || !call.io.page) print(call, { id: handoff.id, task_id: handoff.taskId, ...found.view }, text);
      else await call.io.page(`${text().trimEnd()}\n`);
      if (note) call.io.err(`haversack: ${handoff.id}: ${note}\n`);
      if (nextFrom !== undefined) {
        const next = commandLine("handoff show", call, { from: nextFrom });
        call.io.err(
          `haversack: the details go on, ${nextFrom} of ${total} characters so far; \`${next}\` shows more\n`,
        );
      }
      return 0;
    });
  },
};

/** What follows the first page. */
async function restOf(
  { handoff, nextFrom }: FoundHandoff,
  input: Parameters<typeof getHandoff>[0],
  work: OpenWork,
): Promise<string> {
  const { role, attempt } = handoff;
  let rest = "";
  for (let from = nextFrom; from !== undefined; ) {
    // This very handoff: another may be stored meanwhile.
    const page = await getHandoff({ taskId: input.taskId, role, attempt, from }, work);
    if (page.kind === "none") break;
    rest += page.details ?? "";
    from = page.nextFrom;
  }
  return rest;
}

const { limit, "max-tokens": maxTokensOption } = listOptions(50);

export const handoffList: Command = {
  spec: {
    about:
      "Lists handoffs, newest first: all, or those of a task. --archived adds those that a completed epic has archived.",
    arguments: [{ ...TASK, about: `${TASK.about} (default: all tasks)`, required: false }],
    options: {
      task: { type: "string", value: "ID", about: "The same as TASK." },
      epic: EPIC,
      story: STORY,
      archived: { type: "boolean", about: "Include archived handoffs." },
      limit,
      "max-tokens": maxTokensOption,
      fields: { ...FIELDS, about: "What --json prints of each: minimal (verdict and summary), standard or full." },
    },
    examples: [
      { run: "haversack handoff list --story S4829", says: "what came of its tasks" },
      { run: "haversack handoff list T4829 --archived", says: "every attempt at one task" },
    ],
    json: "[{id, task_id, role, attempt, status, summary}]; --fields standard and full add more. What was left out is said on standard error.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const input = inputOf<Parameters<typeof listHandoffs>[0]>(call, {
        taskId: "task",
        epicId: "epic",
        storyId: "story",
        includeArchived: "archived",
        limit: "limit",
      });
      const [named] = call.arguments;
      if (named !== undefined && input.taskId !== undefined) {
        throw new HaversackError("usage", "TASK and --task exclude each other");
      }
      const taskId = named ?? input.taskId;
      // An unknown task is an error, and not a task without handoffs.
      if (taskId !== undefined) await work.store.getTask(taskId, work.by.at);
      const { items, total } = await listHandoffs({ limit: 50, ...input, taskId }, work);
      const { fields = "minimal", maxTokens } = inputOf<FitOptions<Handoff>>(call, LIST_INPUT);
      printList(call, {
        command: "handoff list",
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
    });
  },
};

export const handoffDecay: Command = {
  spec: {
    about:
      "Shrinks handoffs: of a complete story the details go to the archive, of a complete epic the handoffs as a whole. That happens by itself when one completes; this is for doing it by hand. Failed and blocked ones stay as they are. Nothing is lost: `haversack restore` brings any of it back.",
    options: {
      epic: EPIC,
      story: STORY,
      force: { type: "boolean", about: "Although the story or epic is not complete; needs --epic or --story." },
      "include-failed": { type: "boolean", about: "Failed and blocked ones too." },
      agent: AGENT,
    },
    examples: [
      { run: "haversack decay", says: "what complete stories and epics allow" },
      { run: "haversack decay --story S4829 --force", says: "this story, complete or not" },
    ],
    json: "{compacted, archived}: how many.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const input = inputOf<Parameters<typeof decayHandoffs>[0]>(call, {
        epicId: "epic",
        storyId: "story",
        isForced: "force",
        includeFailed: "include-failed",
      });
      if (input.isForced && input.epicId === undefined && input.storyId === undefined)
        throw new HaversackError("usage", "--force needs --epic or --story: it would shrink every handoff there is");
      const { compacted, archived } = await decayHandoffs(input, work);
      print(call, { compacted, archived }, () => {
        if (compacted + archived === 0) return "Nothing to shrink.";
        return `The details of ${handoffs(compacted)} and ${handoffs(archived)} as a whole went to the archive.`;
      });
      return 0;
    });
  },
};

function handoffs(count: number): string {
  return `${count} ${count === 1 ? "handoff" : "handoffs"}`;
}

export const handoffRestore: Command = {
  spec: {
    about: "Brings handoffs back out of the archive: one, or all of a task, a story or an epic.",
    arguments: [{ name: "ID", about: "a handoff, task, story or epic", required: true }],
    options: { agent: AGENT },
    examples: [{ run: "haversack restore S4829", says: "all handoffs of a story" }],
    json: "{id, restored}: how many.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const { id } = await work.store.findId(call.arguments[0] ?? "");
      const { restored } = await restoreHandoffs({ id }, work);
      print(call, { id, restored }, () => {
        if (restored === 0) return `Nothing of ${id} is in the archive.`;
        return `${restored} ${restored === 1 ? "handoff" : "handoffs"} of ${id} ${restored === 1 ? "is" : "are"} whole again.`;
      });
      return 0;
    });
  },
};
