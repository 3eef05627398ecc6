import { stripControl } from "../../base/clean-text.ts";
import { getHandoff } from "../../engine/work/get-handoff.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatHandoff } from "../print-handoff.ts";
import { commandLine } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { inputOf, refuse, withWork } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Shows what came of a task: the latest handoff, or that of a role or attempt. Its details come only when asked for, and in pages. Exit 1 when it has none.",
  arguments: [TASK],
  options: {
    role: { type: "string", value: "NAME", about: "The latest of this role." },
    attempt: { type: "integer", value: "N", minimum: 1, about: "The one of this attempt." },
    details: { type: "boolean", about: "With its details, one page of them." },
    from: { type: "integer", value: "N", minimum: 0, about: "Details from this character on (default 0)." },
    "max-chars": { type: "integer", value: "N", minimum: 1, about: "The size of a page (default 20000)." },
  },
  examples: [
    { run: "haversack handoff show T48", says: "verdict and summary" },
    { run: "haversack handoff show T48 --details --role spec-reviewer", says: "what the reviewer wrote" },
  ],
  json: "{id, task_id, role, attempt, status, summary, files_changed?, details_chars?, full_details?, next_from?}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof getHandoff>[0]>(call, {
      role: "role",
      attempt: "attempt",
      includeDetails: "details",
      from: "from",
      maxChars: "max-chars",
    });
    const isPage = call.options["from"] !== undefined || call.options["max-chars"] !== undefined;
    const found = await getHandoff({ taskId, ...input, ...(isPage && { includeDetails: true }) }, work);
    if (found.kind === "none") return refuse(call, found);
    const { handoff, details, nextFrom, total } = found;
    print(call, { id: handoff.id, ...found.view }, () => {
      const head = formatHandoff(call.io, handoff, work.by.at);
      return details === undefined ? head : `${head}\n\n${stripControl(details)}`;
    });
    if (nextFrom !== undefined) {
      const next = commandLine("handoff show", call, { from: nextFrom });
      call.io.err(`haversack: the details go on, ${nextFrom} of ${total} characters so far; \`${next}\` shows more\n`);
    }
    return 0;
  });
}
