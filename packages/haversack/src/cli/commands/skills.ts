/** Looking at skills. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { makeFolder, putNewFile } from "../../base/safe-write.ts";
import { lintSkills } from "../../engine/lint-skills.ts";
import { loadSkill } from "../../engine/load-skill.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { searchSkills } from "../../engine/search-skills.ts";
import { templateDescription } from "../../skills/lint-skill.ts";
import { learnedShift } from "../../skills/matching/match-skills.ts";
import { lintRules } from "../../skills/rules/lint-rules.ts";
import { parseRules } from "../../skills/rules/parse-rules.ts";
import type { Problem } from "../../skills/types.ts";
import { forgetLearned, readLearned, readSkillStats } from "../../store/sqlite/skills/skill-usage.ts";
import { defineCommand, type ExitCode, flag, type Io, option, wholeNumber } from "../command.ts";
import { countProblems, formatProblems, mentionProblems } from "../problems.ts";
import { findProject, openProject, readNamedFile } from "../project.ts";
import { openSkills } from "../skills.ts";
import { counted, paint } from "../terminal.ts";

const NONE =
  "No skills found. They live in .claude/skills, .agents/skills or .haversack/skills; `haversack skill new NAME` makes one.";

export const commands = {
  "skill list": defineCommand({
    about:
      "Lists the skills found for this project, where each comes from, and what it is for. If several have the same name, the nearest one counts.",
    options: { source: option("TEXT", "Only sources whose label contains this.") },
    examples: {
      "haversack skill list": "all of them",
      "haversack skill list --source plugin --json": "those of plugins, for a script",
    },
    json: "{skills: [{id, name, description, brief, path, source, domain?, deferred, model_invocable, requires}], problems}: problems counts what was wrong while reading; `skill check` lints more.",
    run(call) {
      const { index, problems } = openSkills(call);
      const { source } = call.options;
      const skills = index
        .listCards()
        .filter(({ sourceLabel }) => !source || sourceLabel.includes(source))
        .map(({ id, name, description, brief, path, sourceLabel, domain, rule, modelInvocable, requires }) => ({
          ...{ id, name, description, brief, path, source: sourceLabel },
          ...(domain && { domain }),
          ...{ deferred: rule?.isDeferred ?? false, modelInvocable, requires },
        }));
      const links = problems.filter(({ code }) => code.startsWith("link-"));
      const notFollowed = links.map(({ file, text }) => paint(call.io, "yellow", `${file}: ${text}`));
      const count = `${counted(skills.length, "skill")}${mentionProblems(problems.length)}.`;
      const pad = padder(skills);
      const lines = () =>
        skills.map(({ id, brief, source }) => `${pad(id)}  ${brief} ${paint(call.io, "dim", `[${source}]`)}`);
      return {
        data: { skills, problems: problems.length },
        text: () => (skills.length > 0 ? [...lines(), "", ...notFollowed, count] : [...notFollowed, NONE]).join("\n"),
      };
    },
  }),
  "skill show": defineCommand({
    about:
      "Prints the text of skills, each after the skills it requires, and lists their resources. With --session it comes once per window, then a one-line note.",
    arguments: [{ name: "NAME", about: "skills, such as api-errors or plugin:api-errors", required: true, many: true }],
    options: {
      session: option("ID", "Record it as loaded in this session."),
      "sub-agent": option("ID", "The sub-agent in that session."),
      reload: flag("Print it again even if the window already has it."),
      "no-resources": flag("Do not list its resources."),
      resource: option("PATH", "Print this file of the skill's folder instead."),
    },
    oldOptions: { agent: "sub-agent" },
    examples: {
      "haversack skill show api-errors": "its text",
      "haversack skill show api-errors --resource references/codes.md": "one of its files",
    },
    jsonOfEach:
      "{kind: loaded|already-loaded|unknown, id, text, hash, tokens, resources: {reference, assets, scripts}, requires, has_changed, nearest}, with --resource {id, resource, text}",
    several: "blocks",
    async run(call) {
      const [name = ""] = call.arguments;
      const { resource, session, "sub-agent": agentId = "", reload = false } = call.options;
      // A resource is not the skill's body, so do not record the body as loaded in the session's window.
      const sessionId = resource === undefined ? session : undefined;
      const open = openSkills(call, { store: sessionId ? "keep" : "read" });
      const includeResources = call.options["no-resources"] !== true;
      const wanted = { name, at: new Date(), reload, includeResources };
      const loaded = loadSkill({ ...wanted, ...(sessionId && { session: { sessionId, agentId } }) }, open);
      if (loaded.kind === "unknown") {
        if (call.json) return { data: loaded, text: "", code: 1 };
        const [guess] = loaded.nearest;
        const hint = guess ? `did you mean ${guess}?` : "`haversack skill list` shows all";
        return { text: `there is no skill "${cleanLine(name)}"`, hint };
      }
      if (resource === undefined) return { data: loaded, text: loaded.text, isVerbatim: true };
      const read = open.readResource(loaded.id, resource);
      if ("problem" in read) throw new HaversackError("not-found", read.problem);
      return { data: { id: loaded.id, resource, text: read.text }, text: read.text, isVerbatim: true };
    },
  }),
  "skill search": defineCommand({
    about: "Finds skills by what you need, best first.",
    arguments: [{ name: "TEXT", about: "what you need, in your own words", required: true, many: true }],
    options: { limit: wholeNumber("N", "How many (default 10).") },
    examples: { "haversack skill search fill a pdf form": "the nearest ten" },
    json: "[{id, name, confidence, reasons, disclosure: none, brief}], best first.",
    run(call) {
      const { limit = 10 } = call.options;
      const found = searchSkills(call.arguments.join(" "), openSkills(call), { limit, forPeople: true });
      const pad = padder(found);
      const lines = found.map(({ id, confidence, brief }) => `${confidence.toFixed(2)}  ${pad(id)}  ${brief}`);
      const text = lines.join("\n") || "No skill has any of these words.";
      return { data: found, text, code: found.length > 0 ? 0 : 1 };
    },
  }),
  "skill check": defineCommand({
    about:
      "Checks every skill against the open specification and our own advice: names, descriptions, lengths, requirements, duplicates. Skills with problems are still loaded.",
    arguments: [{ name: "NAME", about: "only these skills", many: true }],
    options: {
      agents: option(
        "FOLDER",
        "Also find agents in this folder that load skills into every conversation. The folder `skills` beside it is searched too.",
        { repeat: true },
      ),
      strict: flag("Exit 1 on warnings too."),
    },
    examples: {
      "haversack skill check": "exit 1 when there are errors",
      "haversack skill check api-errors --strict": "one skill, in CI",
      "haversack skill check --agents ./agents": "which agents still list skills, and what to do",
    },
    json: "{skills, problems: [{level: error|warning|suggestion, code, file, where?, text}]}.",
    run(call) {
      const open = openSkills(call);
      const { skills, problems } = lintSkills(open, {
        names: call.arguments,
        agents: (call.options.agents ?? []).map((folder) => resolve(call.io.cwd, folder)),
        env: call.io.env,
      });
      const text = problemText(call.io, `${counted(skills, "skill")} checked`, problems);
      return { data: { skills, problems }, text, code: codeOf(problems, call.options) };
    },
  }),
  "skill stats": defineCommand({
    about:
      "Shows which skills were shown in this project, which were then used, and what that cost in tokens (estimated).",
    examples: { "haversack skill stats": "per skill, and the shares of silent and speaking answers" },
    json: "{prompts, tokens, answers: {none, names, incremental, full}, skills: [{id, shown, used, loaded, hit_rate, tokens}]}: answers are shares of prompts; used counts the showings after which the skill was loaded, loaded counts all loads; hit_rate is used ÷ shown.",
    run(call) {
      const { handle } = openProject(call, { access: "look" });
      const stats = readSkillStats(handle);
      const percent = (share: number) => `${Math.round(share * 100)}%`;
      const { none, names, incremental, full } = stats.answers;
      const head = `${stats.prompts} prompts, ${stats.tokens} tokens: ${percent(none)} silent, ${percent(names)} names, ${percent(incremental)} incremental, ${percent(full)} full.`;
      const rows = stats.skills.map(({ id, shown, used, loaded, hitRate, tokens }) => ({
        id,
        cells: [shown, used, percent(hitRate), loaded, tokens],
      }));
      const lines = () => [head, "", ...skillTable(["shown", "used", "hit rate", "loaded", "tokens"], rows)];
      return { data: stats, text: () => (stats.prompts > 0 ? lines().join("\n") : "No prompt was seen here yet.") };
    },
  }),
  "skill learned": defineCommand({
    about:
      "Shows what was learned from use in this project: in how many windows each skill was shown and used, shown and ignored, or searched for and used. With the setting skills.learn, skills that are used move up a little and ignored ones down; without it, this has no effect.",
    options: { reset: flag("Forget what was learned. The statistics of `skill stats` stay.") },
    examples: {
      "haversack skill learned": "per skill",
      "haversack skill learned --json": "export it",
      "haversack skill learned --reset": "start again",
    },
    json: "{is_on, since, skills: [{id, used, ignored, searched, shift}]}: since is the time of the last reset or null; shift is in log odds, from -0.7 to 0.7.",
    run(call) {
      const isReset = call.options.reset === true;
      const { handle, config } = openProject(call, { access: isReset ? "save" : "look" });
      if (isReset) forgetLearned(handle, new Date());
      const isOn = config["skills.learn"];
      const { since, skills: used } = readLearned(handle);
      const skills = used.map((use) => ({ ...use, shift: learnedShift({ loaded: 0, ...use }) }));
      const how = isOn ? "on" : "off; `haversack config set skills.learn true` switches it on";
      const done = isReset ? "Forgotten. " : skills.length === 0 ? "Nothing was learned here yet. " : undefined;
      const rows = skills.map(({ id, used, ignored, searched, shift }) => ({
        id,
        cells: [used, ignored, searched, shift.toFixed(2)],
      }));
      const lines = () => [...skillTable(["used", "ignored", "searched", "shift"], rows), "", `Learning is ${how}.`];
      const text = () => (done === undefined ? lines().join("\n") : `${done}Learning is ${how}.`);
      return { data: { isOn, since, skills }, text };
    },
  }),
  "skill new": defineCommand({
    about:
      "Creates a skill in the shape that loads cheaply: a short core, a quick reference, and references that are read on demand.",
    arguments: [{ name: "NAME", about: "lower-case letters, digits and hyphens", required: true }],
    options: {
      description: option("TEXT", "When to use it, in one or two sentences."),
      in: option("FOLDER", "Where (default .claude/skills).", {
        choices: [".claude/skills", ".agents/skills", ".haversack/skills"],
      }),
    },
    examples: {
      'haversack skill new api-errors --description "Use when an endpoint reports errors."':
        "makes .claude/skills/api-errors/",
    },
    json: "{name, folder, files}.",
    run(call) {
      const [name = ""] = call.arguments;
      if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > 64) {
        const rule = "use 1 to 64 characters of a-z, 0-9 and single hyphens";
        throw new HaversackError("usage", `"${name}" is not a valid skill name: ${rule}`);
      }
      const { paths } = findProject(call);
      const { in: parent = ".claude/skills", description = templateDescription(name) } = call.options;
      const folder = join(paths.root, parent, name);
      if (existsSync(folder)) return { text: `${folder} already exists; nothing was changed` };
      if (folder.startsWith(paths.state)) ensureStateFolder(paths);
      const files = skeleton(name, description);
      const place = { within: paths.root };
      makeFolder(join(folder, "references"), place);
      for (const [file, text] of Object.entries(files)) putNewFile(join(folder, file), text, place);
      const names = Object.keys(files);
      return { data: { name, folder, files: names }, text: `Made ${folder} with ${names.join(", ")}.` };
    },
  }),
  "rules check": defineCommand({
    about:
      "Reads a skill-rules.json of any shape and says what was understood and what is wrong: unknown keys, invalid or slow patterns, deferred skills without a good short description.",
    arguments: [{ name: "FILE", about: "rules files", required: true, many: true }],
    options: { strict: flag("Exit 1 on warnings too.") },
    examples: { "haversack rules check .claude/skills/skill-rules.json": "exit 1 when there are errors" },
    jsonOfEach: "{file, rules, problems: [{level, code, file, where?, text}]}",
    several: "blocks",
    async run(call) {
      const [name = ""] = call.arguments;
      const file = resolve(call.io.cwd, name);
      const { rules, problems } = readRules({ file, text: readNamedFile(call, name) }, () =>
        openSkills(call)
          .index.listCards()
          .flatMap(({ id, sourceKind }) => (sourceKind === "rule" ? [] : [id])),
      );
      const text = problemText(call.io, `${counted(rules, "rule")} read`, problems);
      return { data: { file, rules, problems }, text, code: codeOf(problems, call.options) };
    },
  }),
};

/** Pads IDs to a column. */
function padder(skills: readonly { id: string }[], least = 0): (id: string) => string {
  const width = Math.min(40, Math.max(least, ...skills.map(({ id }) => id.length)));
  return (id) => id.padEnd(width);
}

function skillTable(
  heads: readonly string[],
  rows: readonly { id: string; cells: readonly (string | number)[] }[],
): string[] {
  const pad = padder(rows, "skill".length);
  const line = (id: string, cells: readonly (string | number)[]) =>
    [pad(id), ...cells.map((cell, at) => String(cell).padStart(heads[at]?.length ?? 0))].join("  ");
  return [line("skill", heads), ...rows.map(({ id, cells }) => line(id, cells))];
}

function problemText(io: Io, done: string, problems: readonly Problem[]): string {
  if (problems.length === 0) return `${done}, nothing wrong.`;
  return `${formatProblems(io, problems)}\n\n${done}: ${countProblems(problems)}.`;
}

function codeOf(problems: readonly Problem[], { strict }: { strict?: boolean }): ExitCode {
  return problems.some(({ level }) => level === "error" || (strict && level === "warning")) ? 1 : 0;
}

function readRules(
  { file, text }: { file: string; text: string },
  knownSkills: () => string[],
): { rules: number; problems: Problem[] } {
  const read = readJson(text);
  if (read.problem !== undefined)
    return { rules: 0, problems: [{ level: "error", code: "rules-no-json", file, text: read.problem }] };
  const { rules, problems } = parseRules(read.value, file);
  return { rules: rules.length, problems: [...problems, ...lintRules(rules, { knownSkills: knownSkills() })] };
}

function skeleton(name: string, description: string): Record<string, string> {
  const title = name.split("-").join(" ");
  return {
    "SKILL.md": `---
name: ${name}
description: ${JSON.stringify(description)}
metadata:
  tags: ""
---

# ${title[0]?.toUpperCase()}${title.slice(1)}

What must be known in every case, in at most 50 lines: the steps, the order, the traps.

1. …
2. …

## Details on demand

- \`quick-reference.md\`: the cheat sheet
- \`references/details.md\`: read it when …
`,
    "quick-reference.md": `# ${name}: quick reference\n\n| when | do |\n|---|---|\n| … | … |\n`,
    "references/details.md": `# ${name}: details\n\nThe depth that is read only when it is needed.\n`,
  };
}
