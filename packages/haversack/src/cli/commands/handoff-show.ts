import { stripControl } from "../../base/clean-text.ts";
import { getHandoff } from "../../engine/work/get-handoff.ts";
import { VERDICTS } from "../../work/handoff.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatHandoff } from "../print-handoff.ts";
import { commandLine } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { inputOf, readWork, refuse } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Shows what came of a task: the latest handoff, or that of a role, attempt or verdict. Its details come only when asked for, and in pages; of what is complete they are in the archive, and `restore` brings them back. Exit 1 when it has none.",
  arguments: [TASK],
  options: {
    role: { type: "string", value: "NAME", about: "The latest of this role." },
    attempt: { type: "integer", value: "N", minimum: 1, about: "The one of this attempt." },
    status: { type: "string", value: "VERDICT", choices: VERDICTS, about: "The latest of this verdict." },
    details: { type: "boolean", about: "With its details, one page of them." },
    from: { type: "integer", value: "N", minimum: 0, about: "Details from this character on (default 0)." },
    "max-chars": { type: "integer", value: "N", minimum: 1, about: "The size of a page (default 20000)." },
  },
  examples: [
    { run: "haversack handoff show T4829", says: "verdict and summary" },
    { run: "haversack handoff show T4829 --details --role spec-reviewer", says: "what the reviewer wrote" },
    { run: "haversack handoff show T4829 --details --status FAIL", says: "what is to be mended" },
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
    const { handoff, details, nextFrom, total, note } = found;
    print(call, { id: handoff.id, task_id: handoff.taskId, ...found.view }, () => {
      const head = formatHandoff(call.io, handoff, work.by.at);
      return details ? `${head}\n\n${stripControl(details)}` : head;
    });
    if (note) call.io.err(`haversack: ${handoff.id}: ${note}\n`);
    if (nextFrom !== undefined) {
      const next = commandLine("handoff show", call, { from: nextFrom });
      call.io.err(`haversack: the details go on, ${nextFrom} of ${total} characters so far; \`${next}\` shows more\n`);
    }
    return 0;
  });
}
