/** The map of roles and documents. */
import { cappedCounter } from "../../engine/artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "../../engine/artifacts/artifact-refs.ts";
import { auditFolder } from "../../engine/artifacts/audit-folder.ts";
import { checkArtifacts, initArtifacts } from "../../engine/artifacts/load-role-map.ts";
import { viewDocument } from "../../engine/artifacts/views.ts";
import { FEATURE, PHASE, ROLE } from "../artifacts.ts";
import { type Call, defineCommand, type Output, option } from "../command.ts";
import { table } from "../print-work.ts";
import { countProblems, formatProblems } from "../problems.ts";
import { findProject } from "../project.ts";
import { counted, formatNumber } from "../terminal.ts";

export const commands = {
  "artifacts refs": defineCommand({
    about:
      "Prints only the reference block of a role, for a prompt that you write yourself: which files must be read, where they are, how long they are.",
    arguments: [ROLE],
    options: { feature: FEATURE, phase: PHASE },
    examples: { "haversack artifacts refs design-reviewer --feature docs/features/031-uploads": "what it must read" },
    json: "{role, phase, block, documents: [{file, name, path, state, lines?, sha256?}], problems?}.",
    run(call) {
      const [role = ""] = call.arguments;
      const { paths } = findProject(call);
      const refs = artifactRefs({ role, ...call.options }, { cwd: call.io.cwd, paths });
      const { problems, phase, block } = refs;
      const documents = refs.documents.map(viewDocument);
      const data = { role: refs.role, phase, block, documents, ...(problems.length > 0 && { problems }) };
      const none = `${refs.role} of ${phase} has nothing to read besides its prompt.`;
      return { data, text: block || none, isVerbatim: true, notes: call.json ? [] : problems };
    },
  }),
  "artifacts section": defineCommand({
    about:
      "Prints one section of a Markdown file, with everything nested in it: by heading, by the number or label it begins with, or by anchor. If several headings match, HEADING:2 is the second.",
    arguments: [
      { name: "FILE", about: "a Markdown file, or FILE#HEADING", required: true },
      { name: "HEADING", about: "such as 'Error handling', 2.3, I7, '#I7' or '#error-handling'" },
    ],
    examples: {
      "haversack artifacts section design.md 'Error handling'": "by its heading",
      "haversack artifacts section plan.md 2.3": "by its number",
      "haversack artifacts section design.md#C1": "as tasks refer to it",
    },
    json: "{file, heading, line, lines, text}.",
    run(call) {
      const [file = "", heading] = call.arguments;
      const { paths } = findProject(call);
      const section = readSection({ file, heading }, { cwd: call.io.cwd, paths, isAnywhere: true });
      const { path, line, lineCount, text } = section;
      const data = { file: path, heading: section.heading, line, lines: lineCount, text };
      return { data, text, isVerbatim: true };
    },
  }),
  "artifacts check": defineCommand({
    about:
      "Checks .haversack/artifacts.json: wrong keys, roles without documents, documents that nobody reads, rubrics that are gone. With DIR it checks prompt templates instead: it lists the places that paste whole documents ({content of spec.md}) and what each adds to a prompt. Pasted sections and mentions are listed separately. Exit 1 on errors, or if a template pastes a document.",
    arguments: [
      { name: "FOLDER", about: "folders with prompt templates, or files (default: check the role map)", many: true },
    ],
    options: { feature: option("FOLDER", "Also check the documents of this feature; with DIR, count their tokens.") },
    examples: {
      "haversack artifacts check": "the role map",
      "haversack artifacts check --feature 031-uploads": "and a feature's documents",
      "haversack artifacts check commands --feature 031-uploads": "what templates paste, in tokens",
    },
    json: "{file, shipped, sets, roles, documents, findings: [{level, path, text}]}; with DIR {files, places: [{file, line, column, kind: paste|section|mention, documents, text, tokens?}], tokens?, problems?}, for several a list of these.",
    several: "blocks",
    async run(call) {
      const [folder] = call.arguments;
      const { feature } = call.options;
      return folder === undefined ? checkMap(call, feature) : auditTemplates(call, folder, feature);
    },
  }),
  "artifacts init": defineCommand({
    about:
      "Writes .haversack/artifacts.json, which extends the shipped roles and is yours to change. A file that is there stays as it is.",
    examples: { "haversack artifacts init": "once per project, if the shipped roles do not fit" },
    json: "{file, written}.",
    run(call) {
      const { paths } = findProject(call);
      const { file, isWritten } = initArtifacts(paths);
      if (!isWritten) return { text: `${file} already exists; nothing was changed` };
      return { data: { file, written: isWritten }, text: `Wrote ${file}; \`haversack artifacts check\` checks it.` };
    },
  }),
};

function checkMap(call: Call, feature: string | undefined): Output {
  const { io } = call;
  const check = checkArtifacts({ feature }, { cwd: io.cwd, paths: findProject(call).paths });
  const { file, isShipped, sets, roles, documents, findings } = check;
  return {
    data: { file, shipped: isShipped, sets, roles, documents, findings },
    text: () => {
      const source = isShipped ? "The shipped roles (`haversack artifacts init` writes a file to change them)" : file;
      const size = `${source}: ${roles} roles in ${sets} sets, ${documents} documents.`;
      if (findings.length === 0) return `${size} No problems.`;
      const problems = findings.map(({ level, path, text }) => ({ code: "role-map", level, text, where: path, file }));
      return `${size}\n${formatProblems(io, problems)}\n${countProblems(problems)}`;
    },
    code: findings.some(({ level }) => level === "error") ? 1 : 0,
  };
}

async function auditTemplates(call: Call, folder: string, feature: string | undefined): Promise<Output> {
  const { io } = call;
  const { paths } = findProject(call);
  // Without a feature no tokens are counted, so the tokenizer is not loaded.
  const countTokens = feature === undefined ? () => 0 : await cappedCounter();
  const report = auditFolder({ folder, feature }, { cwd: io.cwd, paths, countTokens });
  const { files, places, tokens, problems } = report;
  const pasted = places.filter(({ kind }) => kind === "paste");
  const data = { files, places, ...(tokens !== undefined && { tokens }), ...(problems.length > 0 && { problems }) };
  const text = () => {
    const rows = places.map(({ file, line, column, kind, text, tokens: cost }) => [
      `${file}:${line}:${column}`,
      { text: kind, ...(kind !== "paste" && { style: "dim" as const }) },
      cost === undefined ? "" : `${formatNumber(cost)} tokens`,
      text,
    ]);
    const sum = tokens === undefined ? "" : `, ${formatNumber(tokens)} tokens with this feature's documents`;
    const count = counted(pasted.length, "place pastes", "places paste");
    const last = `${counted(files, "file")}: ${count} documents${sum}.`;
    return [...table(io, rows), ...(rows.length > 0 ? [""] : []), last].join("\n");
  };
  return { data, text, notes: call.json ? [] : problems, code: pasted.length > 0 ? 1 : 0 };
}
