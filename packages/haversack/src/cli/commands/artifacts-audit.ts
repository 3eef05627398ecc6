import { cappedCounter } from "../../engine/artifacts/artifact-parts.ts";
import { auditFolder } from "../../engine/artifacts/audit-folder.ts";
import { asUsage, FEATURE, formatNumber, warn } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { table } from "../print-work.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Lists the places in prompt templates that paste whole documents ({content of spec.md}), and what each adds to a prompt. Pasted sections and mentions are listed apart. Exit 1 when something is pasted.",
  arguments: [{ name: "DIR", about: "a folder with templates, or one file", required: true }],
  options: { feature: { ...FEATURE, about: "The feature whose documents' sizes are counted." } },
  examples: [
    {
      run: "haversack artifacts audit commands --feature 031-uploads",
      says: "what is pasted, in tokens of that feature",
    },
  ],
  json: "{files, places: [{file, line, column, kind: paste|section|mention, documents, text, tokens?}], tokens?, problems?}.",
};

export function run(call: Call): Promise<ExitCode> {
  const [folder = ""] = call.arguments;
  return asUsage(async () => {
    const { io, options } = call;
    const { paths } = findProject(call);
    const feature = options["feature"] as string | undefined;
    // Without sizes nothing is counted, and the tokenizer is not loaded.
    const countTokens = feature === undefined ? () => 0 : await cappedCounter();
    const report = auditFolder({ folder, feature }, { cwd: io.cwd, paths, countTokens });
    const { files, places, tokens, problems } = report;
    const pasted = places.filter(({ kind }) => kind === "paste");
    const data = { files, places, ...(tokens !== undefined && { tokens }), ...(problems.length > 0 && { problems }) };
    print(call, data, () => {
      const rows = places.map(({ file, line, column, kind, text, tokens: cost }) => [
        { text: `${file}:${line}:${column}` },
        { text: kind, ...(kind !== "paste" && { style: "dim" as const }) },
        { text: cost === undefined ? "" : `${formatNumber(cost)} tokens` },
        { text },
      ]);
      const sum = tokens === undefined ? "" : `, ${formatNumber(tokens)} tokens with this feature's documents`;
      const count = `${pasted.length} ${pasted.length === 1 ? "place pastes" : "places paste"} documents`;
      return [
        ...table(io, rows),
        ...(rows.length > 0 ? [""] : []),
        `${files} ${files === 1 ? "file" : "files"}: ${count}${sum}.`,
      ].join("\n");
    });
    if (!call.json) warn(call, problems);
    return pasted.length > 0 ? 1 : 0;
  });
}
