import { cleanLine } from "../../base/clean-text.ts";
import { listActivity } from "../../engine/work/activity.ts";
import { type Call, option, wholeNumber } from "../command.ts";
import { commandLine, dim, formatAgo, table } from "../print-work.ts";
import { defineWork, inputOf } from "../work.ts";

export const command = defineWork("read", {
  about:
    "Lists what happened to tasks, stories and epics, newest first: who did what, and when. Nothing is ever removed from it.",
  arguments: [{ name: "ID", about: "only what is about these tasks, stories or epics", many: true }],
  options: {
    kind: option("KIND", "Only this kind, such as task-claimed."),
    limit: wholeNumber("N", "How many (default 50)."),
    before: wholeNumber("N", "Only those older than this number."),
  },
  examples: {
    "haversack task log --limit 20": "the last twenty entries",
    "haversack task log T4829": "the history of one task",
  },
  json: "[{id, at, actor, kind, subject?, text}]. If entries are left out, a note says how to get them.",
  several: "list",
  async run(call, work) {
    const [wanted] = call.arguments;
    const subject = wanted === undefined ? undefined : (await work.store.findId(wanted)).id;
    const page = await listActivity({ limit: 50, ...inputOf(call), subject }, work);
    const text = () => {
      if (page.activity.length === 0) return none(call, subject);
      const rows = page.activity.map(({ at, actor, subject: about, text }) => [
        dim(formatAgo(at, work.by.at)),
        cleanLine(actor, { maxChars: 20 }),
        about ?? "",
        cleanLine(text),
      ]);
      return table(call.io, rows).join("\n");
    };
    const output = { data: page.activity, text, isVerbatim: true };
    if (page.nextBeforeId === undefined) return output;
    const shown = `${page.activity.length} of ${page.total} lines`;
    return { ...output, more: `${shown}; \`${commandLine(call, { before: page.nextBeforeId })}\` shows older ones` };
  },
});

/** Repeats the filters: an empty result does not mean that there is no activity at all. */
function none(
  { options }: Pick<Call<{ kind?: string; before?: number }>, "options">,
  subject: string | undefined,
): string {
  const parts = [
    options.kind === undefined ? "" : ` of kind ${cleanLine(options.kind, { maxChars: 60 })}`,
    subject === undefined ? "" : ` about ${subject}`,
    options.before === undefined ? "" : ` before number ${options.before}`,
  ].join("");
  return parts === "" ? "Nothing has happened yet." : `Nothing${parts} has happened.`;
}
