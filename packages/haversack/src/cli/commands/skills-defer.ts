import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { deferSkills } from "../../engine/defer-skills.ts";
import type { SkillCard } from "../../skills/types.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { type DeferOptions, formatDefer, listedSkills, requireDeferral } from "../defer.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Takes skills out of the client's own listing, which costs tokens in every session, through the client's own setting; no file is moved. The model still gets them: Haversack recommends what a prompt needs, and its skill tool loads it. You can still type /name.",
  arguments: [{ name: "NAME", about: "skills to defer", many: true }],
  options: {
    all: { type: "boolean", about: "Every skill that the client lists." },
    names: {
      type: "boolean",
      about: "Keep the names in the listing, drop the descriptions; the client's own Skill tool goes on working.",
    },
    "dry-run": { type: "boolean", about: "Show what would be written, write nothing." },
  },
  examples: [
    { run: "haversack skills defer --all", says: "an empty listing" },
    { run: "haversack skills defer pdf xlsx", says: "two of them" },
    { run: "haversack skills defer --all --names", says: "names only" },
  ],
  json: "{client, file, mode, skills: [name], skipped: [{name, why}], changed}: mode is hidden or names.",
};

export function run(call: Call): ExitCode {
  const {
    all = false,
    names = false,
    "dry-run": isDryRun = false,
  } = call.options as DeferOptions & { names?: boolean };
  const open = openSkills(call);
  const { paths } = open;
  const { client, deferral } = requireDeferral(call);
  const cards = chosenCards(listedSkills(call, open), call.arguments, all);
  const mode = names ? "names" : "hidden";
  const { file, skills, skipped, isChanged } = deferSkills(cards, deferral, { mode, folder: paths.state, isDryRun });
  print(call, { client: client.name, file, mode, skills, skipped, changed: isChanged && !isDryRun }, () =>
    formatDefer({
      skills,
      skipped: all ? skipped.filter(({ why }) => why.startsWith("has an entry")) : skipped,
      headline: (count) =>
        `${count} ${mode === "hidden" ? "hidden from the listing" : "listed by name alone"} (${file}).`,
      isChanged,
      isDryRun,
    }),
  );
  return 0;
}

function chosenCards(cards: readonly SkillCard[], names: readonly string[], all: boolean): SkillCard[] {
  if (all === names.length > 0) throw new HaversackError("usage", "name skills, or give --all");
  if (all) return cards.filter(({ sourceKind }) => sourceKind !== "rule");
  return names.map((name) => {
    // By our name, or by the folder's, which is the client's.
    const card = cards.find(({ id }) => id === name) ?? cards.find(({ folder }) => folder && basename(folder) === name);
    if (card) return card;
    const [guess] = nearest(
      name,
      cards.map(({ id }) => id),
    );
    throw new HaversackError("not-found", `there is no skill "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
      hint: "`haversack skills list` shows all",
    });
  });
}
