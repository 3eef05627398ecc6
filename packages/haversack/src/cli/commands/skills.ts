/** Looking at skills. */
import { HaversackError } from "../../base/errors.ts";
import { lintSkills } from "../../engine/lint-skills.ts";
import { loadSkill } from "../../engine/load-skill.ts";
import { searchSkills } from "../../engine/search-skills.ts";
import { readSkillStats } from "../../store/sqlite/skills/skill-usage.ts";
import { type Command, print } from "../command.ts";
import { countProblems, formatProblems, mentionProblems } from "../problems.ts";
import { openProject } from "../project.ts";
import { openSkills } from "../skills.ts";
import { paint } from "../terminal.ts";

export const skillsList: Command = {
  spec: {
    about:
      "Lists the skills found for this project, where each comes from, and what it is for. Of several with one name the nearest counts.",
    options: {
      source: { type: "string", value: "TEXT", about: "Only sources whose label contains this." },
    },
    examples: [
      { run: "haversack skills list", says: "all of them" },
      { run: "haversack skills list --source plugin --json", says: "those of plugins, for a script" },
    ],
    json: "{skills: [{id, name, description, brief, path, source, domain?, deferred, modelInvocable, requires}], problems}: problems counts what was wrong while reading; `skills check` lints more.",
  },
  run(call) {
    const { index, problems } = openSkills(call);
    const { source } = call.options as { source?: string };
    const skills = index
      .listCards()
      .filter(({ sourceLabel }) => !source || sourceLabel.includes(source))
      .map(({ id, name, description, brief, path, sourceLabel, domain, rule, modelInvocable, requires }) => ({
        id,
        name,
        description,
        brief,
        path,
        source: sourceLabel,
        ...(domain && { domain }),
        deferred: rule?.isDeferred ?? false,
        modelInvocable,
        requires,
      }));
    print(call, { skills, problems: problems.length }, () => {
      const links = problems.filter(({ code }) => code.startsWith("link-"));
      const notFollowed = links.map(({ file, text }) => paint(call.io, "yellow", `${file}: ${text}`));
      if (skills.length === 0) {
        const none =
          "No skills found. They live in .claude/skills, .agents/skills or .haversack/skills; `haversack skills new NAME` makes one.";
        return [...notFollowed, none].join("\n");
      }
      const width = Math.min(40, Math.max(...skills.map(({ id }) => id.length)));
      const lines = skills.map(
        ({ id, brief, source: label }) => `${id.padEnd(width)}  ${brief} ${paint(call.io, "dim", `[${label}]`)}`,
      );
      const count = `${skills.length} ${skills.length === 1 ? "skill" : "skills"}`;
      return [...lines, "", ...notFollowed, `${count}${mentionProblems(problems.length)}.`].join("\n");
    });
    return 0;
  },
};

export const skillsShow: Command = {
  spec: {
    about:
      "Prints a skill's text, after the skills it requires, and lists its resources. With --session it comes once per window, then a one-line note.",
    arguments: [{ name: "NAME", about: "the skill, such as api-errors or plugin:api-errors", required: true }],
    options: {
      session: { type: "string", value: "ID", about: "Record it as loaded in this session." },
      agent: { type: "string", value: "ID", about: "The sub-agent in that session." },
      reload: { type: "boolean", about: "Print it again although the window has it." },
      "no-resources": { type: "boolean", about: "Do not list its resources." },
      resource: { type: "string", value: "PATH", about: "Print this file of the skill's folder instead." },
    },
    examples: [
      { run: "haversack skills show api-errors", says: "its text" },
      { run: "haversack skills show api-errors --resource references/codes.md", says: "one of its files" },
    ],
    json: "{kind: loaded|already-loaded|unknown, id, text, hash, tokens, resources: {reference, assets, scripts}, requires, hasChanged, nearest}; with --resource {id, resource, text}.",
  },
  run(call) {
    const { options } = call;
    const [name = ""] = call.arguments;
    const resource = options["resource"] as string | undefined;
    // A file of the skill is not its body: the window is not told that it has that.
    const sessionId = resource === undefined ? (options["session"] as string | undefined) : undefined;
    const open = openSkills(call, { store: sessionId ? "keep" : "read" });
    const loaded = loadSkill(
      {
        name,
        at: new Date(),
        reload: options["reload"] === true,
        includeResources: options["no-resources"] !== true,
        ...(sessionId && { session: { sessionId, agentId: (options["agent"] as string | undefined) ?? "" } }),
      },
      open,
    );
    if (loaded.kind === "unknown") {
      if (call.json) print(call, loaded, () => "");
      else call.io.err(`${loaded.text}\n`);
      return 1;
    }
    if (resource !== undefined) {
      const read = open.readResource(loaded.id, resource);
      if ("problem" in read) throw new HaversackError("not-found", read.problem);
      print(call, { id: loaded.id, resource, text: read.text }, () => read.text);
      return 0;
    }
    print(call, loaded, () => loaded.text);
    return 0;
  },
};

export const skillsSearch: Command = {
  spec: {
    about: "Finds skills by what you need, best first.",
    arguments: [{ name: "TEXT", about: "what you need, in your own words", required: true, many: true }],
    options: { limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 10)." } },
    examples: [{ run: "haversack skills search fill a pdf form", says: "the nearest ten" }],
    json: "[{id, name, confidence, reasons, disclosure: none, brief}], best first.",
  },
  run(call) {
    const { limit = 10 } = call.options as { limit?: number };
    const found = searchSkills(call.arguments.join(" "), openSkills(call), { limit, forPeople: true });
    print(call, found, () => {
      if (found.length === 0) return "No skill has any of these words.";
      const width = Math.min(40, Math.max(...found.map(({ id }) => id.length)));
      return found
        .map(({ id, confidence, brief }) => `${confidence.toFixed(2)}  ${id.padEnd(width)}  ${brief}`)
        .join("\n");
    });
    return found.length > 0 ? 0 : 1;
  },
};

export const skillsCheck: Command = {
  spec: {
    about:
      "Holds every skill against the open specification and our own advice: names, descriptions, lengths, requirements, duplicates. Skills with problems are loaded all the same.",
    arguments: [{ name: "NAME", about: "only these skills", many: true }],
    options: { strict: { type: "boolean", about: "Exit 1 on warnings too." } },
    examples: [
      { run: "haversack skills check", says: "exit 1 when there are errors" },
      { run: "haversack skills check api-errors --strict", says: "one skill, in CI" },
    ],
    json: "{skills, problems: [{level: error|warning|suggestion, code, file, where?, text}]}.",
  },
  run(call) {
    const open = openSkills(call);
    const { skills, problems } = lintSkills(open, { names: call.arguments, env: call.io.env });
    print(call, { skills, problems }, () => {
      const checked = `${skills} ${skills === 1 ? "skill" : "skills"} checked`;
      return problems.length === 0
        ? `${checked}, nothing wrong.`
        : `${formatProblems(call.io, problems)}\n\n${checked}: ${countProblems(problems)}.`;
    });
    const bad = problems.some(({ level }) => level === "error" || (call.options["strict"] && level === "warning"));
    return bad ? 1 : 0;
  },
};

export const skillsStats: Command = {
  spec: {
    about:
      "What was shown of skills in this project, what was then used, and what it cost in tokens (estimated; the estimator's error is in `npm run bench estimator`).",
    examples: [{ run: "haversack skills stats", says: "per skill, and the shares of silent and speaking answers" }],
    json: "{prompts, tokens, answers: {none, names, incremental, full}, skills: [{id, shown, used, loaded, hitRate, tokens}]}: answers are shares of prompts; used counts the showings after which the skill was loaded, loaded counts all loads; hitRate is used ÷ shown.",
  },
  run(call) {
    const { handle } = openProject(call, { access: "look" });
    const stats = readSkillStats(handle);
    print(call, stats, () => {
      if (stats.prompts === 0) return "No prompt was seen here yet.";
      const percent = (share: number) => `${Math.round(share * 100)}%`;
      const { none, names, incremental, full } = stats.answers;
      const head = `${stats.prompts} prompts, ${stats.tokens} tokens: ${percent(none)} silent, ${percent(names)} names, ${percent(incremental)} incremental, ${percent(full)} full.`;
      const width = Math.min(40, Math.max(5, ...stats.skills.map(({ id }) => id.length)));
      const lines = stats.skills.map(
        ({ id, shown, used, loaded, hitRate, tokens }) =>
          `${id.padEnd(width)}  ${String(shown).padStart(5)}  ${String(used).padStart(4)}  ${percent(hitRate).padStart(8)}  ${String(loaded).padStart(6)}  ${String(tokens).padStart(6)}`,
      );
      return [head, "", `${"skill".padEnd(width)}  shown  used  hit rate  loaded  tokens`, ...lines].join("\n");
    });
    return 0;
  },
};
