/** Looking at skills. */
import { resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { lintSkills } from "../../engine/lint-skills.ts";
import { loadSkill } from "../../engine/load-skill.ts";
import { searchSkills } from "../../engine/search-skills.ts";
import { readSkillStats } from "../../store/sqlite/skills/skill-usage.ts";
import { type Command, eachOne, flag, option, print, sayError, several, wholeNumber } from "../command.ts";
import { countProblems, formatProblems, mentionProblems } from "../problems.ts";
import { openProject } from "../project.ts";
import { openSkills } from "../skills.ts";
import { paint } from "../terminal.ts";

const skillsList: Command = {
  spec: {
    about:
      "Lists the skills found for this project, where each comes from, and what it is for. If several have the same name, the nearest one counts.",
    options: {
      source: option("TEXT", "Only sources whose label contains this."),
    },
    examples: [
      { run: "haversack skill list", says: "all of them" },
      { run: "haversack skill list --source plugin --json", says: "those of plugins, for a script" },
    ],
    json: "{skills: [{id, name, description, brief, path, source, domain?, deferred, model_invocable, requires}], problems}: problems counts what was wrong while reading; `skill check` lints more.",
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
          "No skills found. They live in .claude/skills, .agents/skills or .haversack/skills; `haversack skill new NAME` makes one.";
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

const skillsShow: Command = {
  spec: {
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
    examples: [
      { run: "haversack skill show api-errors", says: "its text" },
      { run: "haversack skill show api-errors --resource references/codes.md", says: "one of its files" },
    ],
    json: several(
      "{kind: loaded|already-loaded|unknown, id, text, hash, tokens, resources: {reference, assets, scripts}, requires, has_changed, nearest}, with --resource {id, resource, text}",
    ),
  },
  run: eachOne((call) => {
    const { options } = call;
    const [name = ""] = call.arguments;
    const resource = options["resource"] as string | undefined;
    // A resource is not the skill's body, so do not record the body as loaded in the session's window.
    const sessionId = resource === undefined ? (options["session"] as string | undefined) : undefined;
    const open = openSkills(call, { store: sessionId ? "keep" : "read" });
    const loaded = loadSkill(
      {
        name,
        at: new Date(),
        reload: options["reload"] === true,
        includeResources: options["no-resources"] !== true,
        ...(sessionId && { session: { sessionId, agentId: (options["sub-agent"] as string | undefined) ?? "" } }),
      },
      open,
    );
    if (loaded.kind === "unknown") {
      if (call.json) print(call, loaded, () => "");
      else {
        const [guess] = loaded.nearest;
        const hint = guess ? `did you mean ${guess}?` : "`haversack skill list` shows all";
        sayError(call.io, `there is no skill "${cleanLine(name)}"`, hint);
      }
      return 1;
    }
    if (resource !== undefined) {
      const read = open.readResource(loaded.id, resource);
      if ("problem" in read) throw new HaversackError("not-found", read.problem);
      print(call, { id: loaded.id, resource, text: read.text }, () => read.text, { isVerbatim: true });
      return 0;
    }
    print(call, loaded, () => loaded.text, { isVerbatim: true });
    return 0;
  }),
};

const skillsSearch: Command = {
  spec: {
    about: "Finds skills by what you need, best first.",
    arguments: [{ name: "TEXT", about: "what you need, in your own words", required: true, many: true }],
    options: { limit: wholeNumber("N", "How many (default 10).") },
    examples: [{ run: "haversack skill search fill a pdf form", says: "the nearest ten" }],
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

const skillsCheck: Command = {
  spec: {
    about:
      "Checks every skill against the open specification and our own advice: names, descriptions, lengths, requirements, duplicates. Skills with problems are still loaded.",
    arguments: [{ name: "NAME", about: "only these skills", many: true }],
    options: {
      agents: option(
        "FOLDER",
        "Also find agents in this folder that load skills into every conversation. The folder `skills` beside it is searched too.",
        {
          repeat: true,
        },
      ),
      strict: flag("Exit 1 on warnings too."),
    },
    examples: [
      { run: "haversack skill check", says: "exit 1 when there are errors" },
      { run: "haversack skill check api-errors --strict", says: "one skill, in CI" },
      { run: "haversack skill check --agents ./agents", says: "which agents still list skills, and what to do" },
    ],
    json: "{skills, problems: [{level: error|warning|suggestion, code, file, where?, text}]}.",
  },
  run(call) {
    const open = openSkills(call);
    const { skills, problems } = lintSkills(open, {
      names: call.arguments,
      agents: ((call.options["agents"] as string[] | undefined) ?? []).map((folder) => resolve(call.io.cwd, folder)),
      env: call.io.env,
    });
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

const skillsStats: Command = {
  spec: {
    about:
      "Shows which skills were shown in this project, which were then used, and what that cost in tokens (estimated).",
    examples: [{ run: "haversack skill stats", says: "per skill, and the shares of silent and speaking answers" }],
    json: "{prompts, tokens, answers: {none, names, incremental, full}, skills: [{id, shown, used, loaded, hit_rate, tokens}]}: answers are shares of prompts; used counts the showings after which the skill was loaded, loaded counts all loads; hit_rate is used ÷ shown.",
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

export const commands: Readonly<Record<string, Command>> = {
  "skill list": skillsList,
  "skill show": skillsShow,
  "skill search": skillsSearch,
  "skill check": skillsCheck,
  "skill stats": skillsStats,
};
