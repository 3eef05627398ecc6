import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { setHandoff } from "../../engine/work/handoffs.ts";
import { VERDICTS } from "../../work/handoff.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { TASK } from "../task-status.ts";
import { inputOf, readFileOrStdin, readList, readText, withWork } from "../work.ts";
import { AGENT, oneOf, text } from "../work-options.ts";

export const spec: CommandSpec = {
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
};

export function run(call: Call): Promise<ExitCode> {
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
}
