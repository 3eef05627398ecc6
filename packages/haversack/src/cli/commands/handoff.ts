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
import { type Handoff, VERDICTS } from "../../work/handoff.ts";
import { viewHandoff } from "../../work/task-view.ts";
import { flag, type Io, option, SEVERAL, wholeNumber } from "../command.ts";
import { block, commandLine, dim, fields, formatAgo, listOutput } from "../print-work.ts";
import { counted, paint, wrapColumns } from "../terminal.ts";
import { defineWork, inputOf, type OpenWork, readFileOrStdin, readList, readText, TASK, TASKS } from "../work.ts";
import { AGENT, EPIC, FIELDS, listOptions, oneOf, STORY, text } from "../work-options.ts";

function formatHandoff(io: Io, handoff: Handoff, now: Date): string {
  const { id, taskId, role, attempt, status, summary, filesChanged, detailsChars, actor, createdAt, state } = handoff;
  return [
    `${id}  ${paint(io, verdictStyle(status), status)} for ${taskId}`,
    ...fields(io, [
      ["role", `${cleanLine(role)}, attempt ${attempt}`],
      ["by", `${cleanLine(actor)}, ${formatAgo(createdAt, now)}`],
      ["files", state === "archived" ? "" : filesChanged.map((file) => cleanLine(file)).join(", ")],
      [
        "details",
        detailsChars > 0 ? `${detailsChars} characters${state === "whole" ? "" : ", in the archive"}` : undefined,
      ],
    ]),
    // Archived handoffs show their summary only after they are restored.
    ...(state === "archived" ? [] : ["", block(stripControl(summary).trimEnd())]),
  ].join("\n");
}

function verdictStyle(status: Handoff["status"]): "green" | "red" {
  return status === "PASS" ? "green" : "red";
}

const { limit, "max-tokens": maxTokensOption } = listOptions(50);
const VERDICT = oneOf(VERDICTS);

export const commands = {
  "handoff set": defineWork("save", {
    about:
      "Stores the result of a task: a verdict, a summary, and details of any size, which are kept whole and read only on request. There is one per task, role and attempt; a stored attempt is never replaced, and the default is the next attempt.",
    arguments: [TASK],
    options: {
      status: option("VERDICT", `Required: ${VERDICT}.`, { choices: VERDICTS, needs: `: ${VERDICT}` }),
      summary: { ...text("Required: the result in a few sentences"), needs: " TEXT" },
      role: option("ROLE", "Who did it, such as spec-reviewer (default implementer)."),
      attempt: wholeNumber("N", "Which attempt (default: the next one)."),
      files: option("PATH", "A file that was changed; repeat it, or separate several by commas.", { repeat: true }),
      details: option("FILE", "A file with the details; - reads standard input."),
      agent: AGENT,
    },
    examples: {
      "haversack handoff set T4829 --status PASS --summary 'Login works, 12 tests' --files src/login.ts": "a result",
      "npm test 2>&1 | haversack handoff set T4829 --status FAIL --summary '2 tests fail' --details -":
        "with the whole output",
    },
    json: "{id, task_id, status, summary}.",
    async run(call, work, taskId) {
      const { status, role, attempt, files, details: file } = call.options;
      const summary = (await readText(call, call.options.summary)) ?? "";
      const details = file === undefined ? undefined : await readFileOrStdin(call, file);
      const result = { taskId, status, summary, role, attempt, filesChanged: readList(files), details };
      const { handoff, view } = await setHandoff(result, work);
      const by = `${cleanLine(handoff.role)}, attempt ${handoff.attempt}`;
      return {
        data: { id: handoff.id, task_id: handoff.taskId, ...view },
        text: `${handoff.status} for ${handoff.taskId} stored as ${handoff.id} (${by}).`,
      };
    },
  }),
  "handoff show": defineWork("read", {
    about:
      "Shows the latest handoff of tasks, or the latest of a role, attempt or verdict. --details adds its details: all of them at a terminal (through $PAGER if they are longer than the screen), and one page at a time in a pipe or with --json. The details of completed work are archived; `handoff restore` brings them back. Exit 1 if there is no handoff.",
    arguments: [TASKS],
    options: {
      role: option("ROLE", "The latest of this role."),
      attempt: wholeNumber("N", "The handoff of this attempt."),
      status: option("VERDICT", "The latest of this verdict.", { choices: VERDICTS }),
      details: flag("Include its details."),
      from: wholeNumber("N", "Show one page of details, from this character on (default 0).", { minimum: 0 }),
      "max-chars": wholeNumber("N", "Characters per page (default 20000)."),
    },
    examples: {
      "haversack handoff show T4829": "verdict and summary",
      "haversack handoff show T4829 --details --role spec-reviewer": "what the reviewer wrote",
      "haversack handoff show T4829 --details --status FAIL": "what is to be fixed",
    },
    json: `{id, task_id, role, attempt, status, summary, files_changed?, details_chars?, full_details?, next_from?, note?}. ${SEVERAL} Pages after the first have only id, task_id, full_details and next_from.`,
    several: "blocks",
    async run(call, work, taskId) {
      const { details: includeDetails, from, "max-chars": maxChars, ...which } = call.options;
      const isPage = from !== undefined || maxChars !== undefined;
      const query = { taskId, ...which, from, maxChars, includeDetails: includeDetails || isPage };
      const found = await getHandoff(query, work);
      if (found.kind === "none") return found;
      const { handoff, details, total, note } = found;
      // Paging is for machines, which pay for every character. A terminal gets everything.
      const isWhole = call.io.isTerminal && !call.json && !isPage && found.nextFrom !== undefined;
      const nextFrom = isWhole ? undefined : found.nextFrom;
      const text = async () => {
        const rest = isWhole ? await restOf(found, taskId, work) : "";
        const head = wrapColumns(formatHandoff(call.io, handoff, work.by.at), call.io.width);
        return details ? `${head}\n\n${stripControl(details + rest)}` : head;
      };
      const more = () => `\`${commandLine(call, { from: nextFrom })}\` shows more`;
      const notes = [
        ...(note ? [`${handoff.id}: ${note}`] : []),
        ...(nextFrom === undefined ? [] : [`the details go on, ${nextFrom} of ${total} characters so far; ${more()}`]),
      ];
      const data = { id: handoff.id, task_id: handoff.taskId, ...found.view };
      return { data, text, isVerbatim: true, isPaged: true, notes };
    },
  }),
  "handoff list": defineWork("read", {
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
    examples: {
      "haversack handoff list --story S4829": "the results of its tasks",
      "haversack handoff list T4829 --archived": "every attempt at one task",
    },
    json: "[{id, task_id, role, attempt, status, summary}]; --fields standard and full add more. If some are left out, a note says how to get them.",
    several: "list",
    async run(call, work) {
      const { fields = "minimal", "max-tokens": maxTokens } = call.options;
      const input = inputOf(call, "task", "epic", "story", "archived", "limit");
      const [named] = call.arguments;
      if (named !== undefined && input.taskId !== undefined) {
        throw new HaversackError("usage", "TASK and --task cannot be used together");
      }
      const taskId = named ?? input.taskId;
      // An unknown task is an error, not a task without handoffs.
      if (taskId !== undefined) await work.store.getTask(taskId, work.by.at);
      const page = await listHandoffs({ limit: 50, ...input, taskId }, work);
      return listOutput(call, {
        nouns: ["handoff", "handoffs"],
        listed: listed(page, { view: viewHandoff, fields, maxTokens, offset: 0 }),
        row: ({ id, taskId, role, attempt, status, summary, createdAt }) => [
          id,
          taskId,
          { text: status, style: verdictStyle(status) },
          `${cleanLine(role)} ${attempt}`,
          dim(formatAgo(createdAt, work.by.at)),
          cleanLine(summary, { maxChars: 200 }),
        ],
        none: "No handoffs.",
        isUnpaged: true,
      });
    },
  }),
  "handoff decay": defineWork("save", {
    about:
      "Archives handoffs of completed work: the details of a completed story, and whole handoffs of a completed epic. This happens by itself when one completes; the command does it by hand. Failed and blocked ones stay as they are. Nothing is lost: `haversack handoff restore` brings them back.",
    options: {
      epic: EPIC,
      story: STORY,
      force: flag("Archive even if the story or epic is not complete; needs --epic or --story."),
      "include-failed": flag("Include failed and blocked ones."),
      agent: AGENT,
    },
    examples: {
      "haversack handoff decay": "what complete stories and epics allow",
      "haversack handoff decay --story S4829 --force": "this story, complete or not",
    },
    json: "{compacted, archived}: how many.",
    async run(call, work) {
      const input = inputOf(call);
      if (input.isForced && input.epicId === undefined && input.storyId === undefined)
        throw new HaversackError(
          "usage",
          "--force needs --epic or --story: without them it would archive every handoff",
        );
      const { compacted, archived } = await decayHandoffs(input, work);
      const done = `The details of ${counted(compacted, "handoff")} and ${counted(archived, "handoff")} as a whole were archived.`;
      return { data: { compacted, archived }, text: compacted + archived === 0 ? "Nothing to archive." : done };
    },
  }),
  "handoff restore": defineWork("save", {
    about: "Brings handoffs back from the archive: single ones, or all of a task, a story or an epic.",
    arguments: [{ name: "ID", about: "handoffs, tasks, stories or epics", required: true, many: true }],
    options: { agent: AGENT },
    examples: { "haversack handoff restore S4829 E1207": "all handoffs of a story and an epic" },
    jsonOfEach: "{id, restored}, where restored is a count",
    several: "lines",
    async run(_call, work, wanted) {
      const { id } = await work.store.findId(wanted);
      const { restored } = await restoreHandoffs({ id }, work);
      const text =
        restored === 0 ? `Nothing of ${id} is in the archive.` : `Restored ${counted(restored, "handoff")} of ${id}.`;
      return { data: { id, restored }, text };
    },
  }),
};

/** The pages after the first. */
async function restOf({ handoff, nextFrom }: FoundHandoff, taskId: string, work: OpenWork): Promise<string> {
  const { role, attempt } = handoff;
  let rest = "";
  for (let from = nextFrom; from !== undefined; ) {
    // By role and attempt, because another handoff may be stored meanwhile.
    const page = await getHandoff({ taskId, role, attempt, from }, work);
    if (page.kind === "none") break;
    rest += page.details ?? "";
    from = page.nextFrom;
  }
  return rest;
}
