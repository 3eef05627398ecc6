import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { deferSkills } from "../../engine/defer-skills.ts";
import { noteDeferredProject } from "../../engine/deferred-projects.ts";
import { offReason, projectPaths } from "../../engine/project.ts";
import type { SkillCard } from "../../skills/types.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import {
  CLIENT_OPTION,
  type ClientReport,
  type DeferOptions,
  deferData,
  deferringClients,
  formatDefer,
  listedSkills,
} from "../defer.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Takes skills out of the listing that each client sends with every session, which costs tokens, through the client's own setting; no skill's file is moved or changed. The model still gets them: Haversack recommends what a prompt needs, and its skill tool loads it. Does so in every client that Haversack is wired into here, and says for each. You can still type /name in Claude Code and opencode.",
  arguments: [{ name: "NAME", about: "skills to defer", many: true }],
  options: {
    all: { type: "boolean", about: "Every skill that the client lists." },
    names: {
      type: "boolean",
      about:
        "Keep the names in the listing, drop the descriptions; the client's own Skill tool goes on working. Claude Code alone can do that.",
    },
    client: CLIENT_OPTION,
    "dry-run": { type: "boolean", about: "Show what would be written, write nothing." },
  },
  examples: [
    { run: "haversack skills defer --all", says: "an empty listing" },
    { run: "haversack skills defer pdf xlsx", says: "two of them" },
    { run: "haversack skills defer --all --names", says: "names only" },
  ],
  json: "{mode, clients: [{client, file, skills: [name], skipped: [{name, why}], changed}]}: mode is hidden or names.",
};

export function run(call: Call): ExitCode {
  const {
    all = false,
    names = false,
    "dry-run": isDryRun = false,
  } = call.options as DeferOptions & { names?: boolean };
  refuseWhileOff(call);
  const open = openSkills(call, { store: isDryRun ? "read" : "make" });
  const mode = names ? "names" : "hidden";
  const cards = chosenCards(listedSkills(call, open), call.arguments, all);
  const clients = deferringClients(call);
  const unable = clients.flatMap(({ deferral: { noNames } }) => (names && noNames ? [noNames] : []));
  if (unable.length === clients.length) {
    throw new HaversackError("input-invalid", unable.join("; "), { hint: "defer them without --names there" });
  }
  const reports = clients.map(({ client, deferral }): ClientReport => {
    const { path: file, noNames } = deferral;
    if (names && noNames)
      return { client, file, skills: [], skipped: [{ name: "by name alone", why: noNames }], isChanged: false };
    const report = deferSkills(cards, deferral, { mode, folder: open.paths.state, cwd: call.io.cwd, isDryRun });
    return { client, ...report };
  });
  if (!isDryRun) noteDeferredProject(open.paths);
  print(call, { mode, clients: deferData(reports, isDryRun) }, () =>
    formatDefer(all ? reports.map(withoutUnlisted) : reports, {
      headline: (count, file) =>
        `${count} ${mode === "hidden" ? "hidden from the listing" : "listed by name alone"} (${file}).`,
      isDryRun,
    }),
  );
  return 0;
}

/** While Haversack is off nothing would bring them. HAVERSACK=0 counts for this process alone. */
function refuseWhileOff({ io }: Call): void {
  const reason = offReason(projectPaths(io.cwd, io.env), { ...io.env, HAVERSACK: undefined });
  if (!reason) return;
  const [why, remedy] = reason.split("; ");
  throw new HaversackError("refused", `Haversack is ${why}: nothing would bring hidden skills`, {
    hint: remedy ?? "switch it on first",
  });
}

/** With `--all` nobody has asked for those that the client does not list anyway. */
function withoutUnlisted(report: ClientReport): ClientReport {
  return { ...report, skipped: report.skipped.filter(({ why }) => !why.endsWith("does not list it anyway")) };
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
