/** The map of roles and documents. */
import { cappedCounter } from "../../engine/artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "../../engine/artifacts/artifact-refs.ts";
import { auditFolder } from "../../engine/artifacts/audit-folder.ts";
import { checkArtifacts } from "../../engine/artifacts/check-artifacts.ts";
import { initArtifacts } from "../../engine/artifacts/init-artifacts.ts";
import { viewDocument } from "../../engine/artifacts/views.ts";
import { asUsage, FEATURE, formatNumber, PHASE, ROLE, requireOption, warn } from "../artifacts.ts";
import { type Command, print } from "../command.ts";
import { table } from "../print-work.ts";
import { countProblems, formatProblems } from "../problems.ts";
import { findProject } from "../project.ts";

export const artifactsRefs: Command = {
  spec: {
    about:
      "Prints the reference block of a role alone, for a prompt that you write yourself: which files must be read, where they are, how long they are.",
    arguments: [ROLE],
    options: { feature: FEATURE, phase: PHASE },
    examples: [
      {
        run: "haversack artifacts refs design-reviewer --feature docs/features/031-uploads",
        says: "what it must read",
      },
    ],
    json: "{role, phase, block, documents: [{file, name, path, state, lines?, sha256?}], problems?}.",
  },
  run(call) {
    const [role = ""] = call.arguments;
    const feature = requireOption(call, "artifacts refs", "feature", "DIR");
    return asUsage(() => {
      const { paths } = findProject(call);
      const phase = call.options["phase"] as string | undefined;
      const refs = artifactRefs({ role, feature, phase }, { cwd: call.io.cwd, paths });
      const { problems } = refs;
      print(
        call,
        {
          role: refs.role,
          phase: refs.phase,
          block: refs.block,
          documents: refs.documents.map(viewDocument),
          ...(problems.length > 0 && { problems }),
        },
        () => refs.block || `${refs.role} of ${refs.phase} has nothing to read besides its prompt.`,
      );
      if (!call.json) warn(call, problems);
      return 0;
    });
  },
};

export const artifactsSection: Command = {
  spec: {
    about:
      "Prints one section of a Markdown file, with everything nested in it: by heading, by the number or label it begins with, or by anchor. If several headings match, HEADING:2 is the second.",
    arguments: [
      { name: "FILE", about: "a Markdown file, or FILE#HEADING", required: true },
      { name: "HEADING", about: "such as 'Error handling', 2.3, I7, '#I7' or '#error-handling'" },
    ],
    examples: [
      { run: "haversack artifacts section design.md 'Error handling'", says: "by its heading" },
      { run: "haversack artifacts section plan.md 2.3", says: "by its number" },
      { run: "haversack artifacts section design.md#C1", says: "as tasks refer to it" },
    ],
    json: "{file, heading, line, lines, text}.",
  },
  run(call) {
    const [file = "", heading] = call.arguments;
    return asUsage(() => {
      const { paths } = findProject(call);
      const section = readSection({ file, heading }, { cwd: call.io.cwd, paths, isAnywhere: true });
      const { path, line, lineCount, text } = section;
      print(call, { file: path, heading: section.heading, line, lines: lineCount, text }, () => text);
      return 0;
    });
  },
};

export const artifactsCheck: Command = {
  spec: {
    about:
      "Checks .haversack/artifacts.json: wrong keys, roles without documents, documents that nobody reads, rubrics that are gone. Exit 1 when there is an error.",
    options: { feature: { ...FEATURE, about: "Also look at the documents of this feature." } },
    examples: [
      { run: "haversack artifacts check", says: "the map" },
      { run: "haversack artifacts check --feature 031-uploads", says: "and a feature's documents" },
    ],
    json: "{file, shipped, sets, roles, documents, findings: [{level, path, text}]}.",
  },
  run(call) {
    return asUsage(() => {
      const { io, options } = call;
      const { paths } = findProject(call);
      const check = checkArtifacts({ feature: options["feature"] as string | undefined }, { cwd: io.cwd, paths });
      const { file, isShipped, sets, roles, documents, findings } = check;
      print(call, { file, shipped: isShipped, sets, roles, documents, findings }, () => {
        const source = isShipped ? "The shipped roles (`haversack artifacts init` writes a file to change them)" : file;
        const size = `${source}: ${roles} roles in ${sets} sets, ${documents} documents.`;
        if (findings.length === 0) return `${size} No problems.`;
        const problems = findings.map(({ level, path, text }) => ({
          code: "role-map",
          level,
          text,
          where: path,
          file,
        }));
        return `${size}\n${formatProblems(io, problems)}\n${countProblems(problems)}`;
      });
      return findings.some(({ level }) => level === "error") ? 1 : 0;
    });
  },
};

export const artifactsAudit: Command = {
  spec: {
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
  },
  run(call) {
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
  },
};

export const artifactsInit: Command = {
  spec: {
    about:
      "Writes .haversack/artifacts.json, which extends the shipped roles and is yours to change. A file that is there stays as it is.",
    examples: [{ run: "haversack artifacts init", says: "once per project, if the shipped roles do not fit" }],
    json: "{file, written}.",
  },
  run(call) {
    const { paths } = findProject(call);
    const { file, isWritten } = initArtifacts(paths);
    print(call, { file, written: isWritten }, () =>
      isWritten
        ? `Wrote ${file}; \`haversack artifacts check\` checks it.`
        : `${file} is there already; nothing was changed.`,
    );
    return isWritten ? 0 : 1;
  },
};
