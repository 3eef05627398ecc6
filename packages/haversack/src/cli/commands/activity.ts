import { cleanLine } from "../../base/clean-text.ts";
import { listActivity } from "../../engine/work/activity.ts";
import {
  type Call,
  type CommandSpec,
  type ExitCode,
  eachOne,
  jsonLine,
  option,
  sayNote,
  wholeNumber,
} from "../command.ts";
import { commandLine, formatAgo, table } from "../print-work.ts";
import { inputOf, openWork } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Lists what happened to tasks, stories and epics, newest first: who did what, and when. Nothing is ever removed from it.",
  arguments: [{ name: "ID", about: "only what is about these tasks, stories or epics", many: true }],
  options: {
    kind: option("KIND", "Only this kind, such as task-claimed."),
    limit: wholeNumber("N", "How many (default 50)."),
    before: wholeNumber("N", "Only those older than this number."),
  },
  examples: [
    { run: "haversack task log --limit 20", says: "the last twenty entries" },
    { run: "haversack task log T4829", says: "the history of one task" },
  ],
  json: "[{id, at, actor, kind, subject?, text}]. If entries are left out, a note says how to get them.",
};

export const run = eachOne(showActivity, { isList: true });

async function showActivity(call: Call): Promise<ExitCode> {
  const work = await openWork(call, "read");
  const { io, json } = call;
  const [wanted] = call.arguments;
  const subject = wanted === undefined ? undefined : (await work.store.findId(wanted)).id;
  const page = await listActivity(
    {
      limit: 50,
      ...inputOf<Parameters<typeof listActivity>[0]>(call, "kind", "limit", "before"),
      ...(subject !== undefined && { subject }),
    },
    work,
  );
  if (json) io.out(jsonLine(page.activity));
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
    const next = `${shown}; \`${commandLine(call, { before: page.nextBeforeId })}\` shows older ones`;
    if (json) sayNote(io, next);
    else io.out(`\n${next}.\n`);
  }
  return 0;
}

/** Repeats the filters: an empty result does not mean that there is no activity at all. */
function none({ options }: Call, subject: string | undefined): string {
  const parts = [
    options["kind"] === undefined ? "" : ` of kind ${cleanLine(options["kind"] as string, { maxChars: 60 })}`,
    subject === undefined ? "" : ` about ${subject}`,
    options["before"] === undefined ? "" : ` before number ${options["before"]}`,
  ].join("");
  return parts === "" ? "Nothing has happened yet." : `Nothing${parts} has happened.`;
}
