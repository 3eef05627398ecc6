import { cleanLine } from "../../base/clean-text.ts";
import { listActivity } from "../../engine/work/activity.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { commandLine, formatAgo, table } from "../print-work.ts";
import { inputOf, readWork } from "../work.ts";

export const spec: CommandSpec = {
  about: "Lists what happened to tasks, stories and epics, newest first: who did what, and when. It only ever grows.",
  arguments: [{ name: "ID", about: "only what is about this task, story or epic" }],
  options: {
    kind: { type: "string", value: "KIND", about: "Only this kind, such as task-claimed." },
    limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 50)." },
    before: { type: "integer", value: "N", minimum: 1, about: "Only those older than this number." },
  },
  examples: [
    { run: "haversack activity --limit 20", says: "the last twenty things" },
    { run: "haversack activity T4829", says: "the story of one task" },
  ],
  json: "[{id, at, actor, kind, subject?, text}]. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const { io, json } = call;
    const [wanted] = call.arguments;
    const subject = wanted === undefined ? undefined : (await work.store.findId(wanted)).id;
    const page = await listActivity(
      {
        limit: 50,
        ...inputOf<Parameters<typeof listActivity>[0]>(call, { kind: "kind", limit: "limit", beforeId: "before" }),
        ...(subject !== undefined && { subject }),
      },
      work,
    );
    if (json) io.out(`${JSON.stringify(page.activity)}\n`);
    else if (page.activity.length === 0) io.out(`${none(call, subject)}\n`);
    else {
      const rows = page.activity.map(({ at, actor, subject: about, text }) => [
        { text: formatAgo(at, work.by.at), style: "dim" as const },
        { text: cleanLine(actor, { maxChars: 20 }) },
        { text: about ?? "" },
        { text: cleanLine(text) },
      ]);
      io.out(`${table(io, rows).join("\n")}\n`);
    }
    if (page.nextBeforeId !== undefined) {
      const shown = `${page.activity.length} of ${page.total} lines`;
      const next = `${shown}; \`${commandLine("activity", call, { before: page.nextBeforeId })}\` shows older ones`;
      if (json) io.err(`haversack: ${next}\n`);
      else io.out(`\n${next}.\n`);
    }
    return 0;
  });
}

/** An empty list that was asked for only a part says nothing of the whole. */
function none({ options }: Call, subject: string | undefined): string {
  const parts = [
    options["kind"] === undefined ? "" : ` of kind ${cleanLine(options["kind"] as string, { maxChars: 60 })}`,
    subject === undefined ? "" : ` about ${subject}`,
    options["before"] === undefined ? "" : ` before number ${options["before"]}`,
  ].join("");
  return parts === "" ? "Nothing has happened yet." : `Nothing${parts} has happened.`;
}
