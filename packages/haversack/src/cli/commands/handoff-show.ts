import { stripControl } from "../../base/clean-text.ts";
import { type FoundHandoff, getHandoff } from "../../engine/work/handoffs.ts";
import { VERDICTS } from "../../work/handoff.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatHandoff } from "../print-handoff.ts";
import { commandLine } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { inputOf, type OpenWork, readWork, refuse } from "../work.ts";

export const spec: CommandSpec = {
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
};

export function run(call: Call): Promise<ExitCode> {
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
      call.io.err(`haversack: the details go on, ${nextFrom} of ${total} characters so far; \`${next}\` shows more\n`);
    }
    return 0;
  });
}

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
