/** Hiding skills from a client's listing, and listing them again. */
import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { nearest } from "../../base/nearest.ts";
import { CLIENTS } from "../../clients/table.ts";
import { type DeferReport, deferSkills, noteDeferredProject, undeferSkills } from "../../engine/defer-skills.ts";
import { readText } from "../../engine/init.ts";
import { offReason, projectPaths } from "../../engine/project.ts";
import type { Client, Deferral, WiringPlace } from "../../engine/wiring.ts";
import { readReceipt } from "../../engine/wiring-receipt.ts";
import { findSkillFiles } from "../../skills/skill-files.ts";
import type { SkillCard } from "../../skills/types.ts";
import { type Call, defineCommand, flag, type OptionSpec, option, print, sayError } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { type OpenSkills, openSkills, skillSources } from "../skills.ts";
import { counted } from "../terminal.ts";

const CLIENT_OPTION: OptionSpec = option("NAME", "This client alone (default: all clients that are connected here).", {
  choices: CLIENTS.map(({ name }) => name),
});

type DeferCall = Pick<Call<{ client?: string }>, "io" | "options">;

interface Deferring {
  client: Client;
  deferral: Deferral;
}

/** The clients of `--client`; by default, all that are wired or have our package. */
function wiredClients(call: DeferCall): Deferring[] {
  const place = { cwd: call.io.cwd, env: call.io.env };
  return chosenDeferrals(call).filter(({ client }) => client.isPackaged?.(place) || isWired(client, place));
}

function chosenDeferrals({ io, options }: DeferCall): Deferring[] {
  const chosen = CLIENTS.filter(({ name }) => !options.client || name === options.client);
  return chosen.flatMap((client): Deferring[] => {
    const deferral = client.deferral?.({ cwd: io.cwd, env: io.env });
    return deferral ? [{ client, deferral }] : [];
  });
}

/** In a client without Haversack, nothing would load hidden skills. */
function refuseUnwired(call: DeferCall): Deferring[] {
  const wired = wiredClients(call);
  if (wired.length > 0) return wired;
  const name = call.options.client;
  const client = CLIENTS.find((one) => one.name === name);
  throw new HaversackError(
    "refused",
    `Haversack is not connected to ${client ? client.title : "any client"} here: nothing would load hidden skills`,
    { hint: client ? `run \`haversack init --client ${client.name}\` first` : "run `haversack init` first" },
  );
}

/** Whether one of its files contains an entry of ours. */
export function isWired(client: Client, place: Pick<WiringPlace, "cwd" | "env">): boolean {
  const installed = findInstalled();
  return (["project", "user"] as const).some((scope) =>
    client.files({ ...place, scope, installed, hasGuards: false }).some(({ path, isRecordedOnly, unwire }) => {
      const text = isRecordedOnly ? undefined : readText(path);
      if (!text?.trim()) return false;
      try {
        return unwire(text, []) !== text;
      } catch {
        // A file that cannot be parsed has no working entry; `doctor` reports it.
        return false;
      }
    }),
  );
}

/**
 * Every skill, including those hidden behind another of the same name: if the files of two folders have the same name, the
 * client lists both.
 */
function listedSkills(call: Pick<Call, "io">, open: OpenSkills): SkillCard[] {
  const cards = open.index.listCards();
  const known = new Set(cards.map(({ path }) => path));
  const { files } = findSkillFiles(skillSources(call, open).roots, diskFileSystem);
  const others = files
    .filter(({ path }) => !known.has(path))
    .map(
      ({ path, folder, folderName, source, plugin }): SkillCard => ({
        key: -1,
        id: plugin ? `${plugin}:${folderName}` : folderName,
        name: folderName,
        description: "",
        brief: "",
        path,
        ...(folder && { folder }),
        hash: "",
        sourceKind: source.kind,
        sourceLabel: source.label,
        modelInvocable: true,
        requires: [],
      }),
    );
  return [...cards, ...others];
}

interface ClientReport extends DeferReport {
  client: Client;
}

function formatDefer(reports: readonly ClientReport[], { how, isDryRun }: { how: string; isDryRun: boolean }): string {
  const isChanged = reports.some((report) => report.isChanged);
  const lines = reports.flatMap((report) => {
    const { client, file, skills, skipped } = report;
    const are = isDryRun ? "would be" : skills.length === 1 ? "is" : "are";
    const count = `${counted(skills.length, "skill")} ${are}`;
    const head = skills.length > 0 ? `${count} ${how} (${file}).` : "No skill was changed.";
    return [
      reports.length > 1 ? `${client.title}: ${head}` : head,
      ...skipped.map(({ name, why }) => `  skipped ${name}: ${why}`),
      ...(skills.length > 0 && !report.isChanged ? ["Nothing had to be changed."] : []),
    ];
  });
  const end = isDryRun ? "Nothing was written (--dry-run)." : "This takes effect in sessions that start from now on.";
  return [...lines, ...(isChanged ? [end] : [])].join("\n");
}

/** For `--json`. */
function deferData(reports: readonly ClientReport[], isDryRun: boolean) {
  return reports.map(({ client, file, skills, skipped, isChanged }) => ({
    client: client.name,
    file,
    skills,
    skipped,
    changed: isChanged && !isDryRun,
  }));
}

export const commands = {
  "skill defer": defineCommand({
    about:
      "Hides skills from the listing that each client sends with every session, which costs tokens. Uses the client's own setting; no skill file is moved or changed. The model still gets them: Haversack recommends what a prompt needs, and its skill tool loads it. Works in every connected client. You can still type /name in Claude Code and opencode.",
    arguments: [{ name: "NAME", about: "skills to defer", many: true }],
    options: {
      all: flag("Every skill that the client lists."),
      names: flag(
        "Keep the names in the listing and hide only the descriptions; the client's own Skill tool still works. Claude Code only.",
      ),
      client: CLIENT_OPTION,
      "dry-run": flag("Show what would be written, write nothing."),
    },
    examples: {
      "haversack skill defer --all": "an empty listing",
      "haversack skill defer pdf xlsx": "two of them",
      "haversack skill defer --all --names": "names only",
    },
    json: "{mode, clients: [{client, file, skills: [name], skipped: [{name, why}], changed}]}: mode is hidden or names.",
    run(call) {
      const { all = false, names = false, "dry-run": isDryRun = false } = call.options;
      checkChoice(call.arguments, all);
      refuseWhileOff(call);
      const clients = refuseUnwired(call);
      const open = openSkills(call, { store: isDryRun ? "read" : "make" });
      const mode = names ? "names" : "hidden";
      const cards = chosenCards(listedSkills(call, open), call.arguments, all);
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
      const how = mode === "hidden" ? "hidden from the listing" : "listed by name alone";
      const text = formatDefer(all ? reports.map(withoutUnlisted) : reports, { how, isDryRun });
      return { data: { mode, clients: deferData(reports, isDryRun) }, text };
    },
  }),
  "skill undefer": defineCommand({
    about: "Puts skills back into the clients' own listings. Removes only what `haversack skill defer` wrote.",
    arguments: [{ name: "NAME", about: "skills to list again", many: true }],
    options: {
      all: flag("Every skill that was deferred."),
      client: { ...CLIENT_OPTION, about: "This client alone (default: all where something was deferred)." },
      "dry-run": flag("Show what would be written, write nothing."),
    },
    examples: { "haversack skill undefer --all": "the listing as it was" },
    json: "{clients: [{client, file, skills: [name], skipped: [{name, why}], changed}]}.",
    async run(call) {
      const { all = false, "dry-run": isDryRun = false } = call.options;
      checkChoice(call.arguments, all);
      const names = [...new Set(call.arguments)];
      const { paths, index } = openSkills(call);
      const reports = deferredClients(call, paths.state).map(({ client, deferral }): ClientReport => {
        // Clients identify a skill by their own key, people by its name.
        const keys = names.map((name) => {
          const card = index.card(name);
          const own = card && deferral.keyOf(card);
          if (own && "key" in own) return own.key;
          return card?.folder ? basename(card.folder) : name;
        });
        const place = { folder: paths.state, cwd: call.io.cwd, isDryRun };
        return { client, ...undeferSkills(all ? undefined : keys, deferral, place) };
      });
      if (!isDryRun) noteDeferredProject(paths);
      // A deferred skill may have been removed since, and can still be undeferred.
      const unknown = names.filter(
        (name) => !index.card(name) && reports.every(({ skipped }) => skipped.some((one) => one.name === name)),
      );
      if (all || unknown.length < names.length) {
        const known = reports.map((report) => ({
          ...report,
          skipped: report.skipped.filter(({ name }) => !unknown.includes(name)),
        }));
        const text = formatDefer(known, { how: "back in the listing", isDryRun });
        await print(call, { data: { clients: deferData(known, isDryRun) }, text });
      }
      for (const name of unknown) sayError(call.io, `there is no skill "${name}"`, "`haversack skill list` shows all");
      return unknown.length > 0 ? 1 : 0;
    },
  }),
};

/** While Haversack is off, nothing would load them. HAVERSACK=0 applies only to this process. */
function refuseWhileOff({ io }: Pick<Call, "io">): void {
  const reason = offReason(projectPaths(io.cwd, io.env), { ...io.env, HAVERSACK: undefined });
  if (!reason) return;
  const [why, remedy] = reason.split("; ");
  throw new HaversackError("refused", `Haversack is ${why}: nothing would load hidden skills`, {
    hint: remedy ?? "switch it on first",
  });
}

/** `--all` leaves out skills that the client does not list anyway. */
function withoutUnlisted(report: ClientReport): ClientReport {
  return { ...report, skipped: report.skipped.filter(({ why }) => !why.endsWith("does not list it anyway")) };
}

function checkChoice(names: readonly string[], all: boolean): void {
  if (all === names.length > 0) throw new HaversackError("usage", "name skills, or give --all");
}

function chosenCards(cards: readonly SkillCard[], names: readonly string[], all: boolean): SkillCard[] {
  if (all) return cards.filter(({ sourceKind }) => sourceKind !== "rule");
  return names.map((name) => {
    // By our name, or by the folder's name, which the client uses.
    const card = cards.find(({ id }) => id === name) ?? cards.find(({ folder }) => folder && basename(folder) === name);
    if (card) return card;
    const [guess] = nearest(
      name,
      cards.map(({ id }) => id),
    );
    throw new HaversackError("not-found", `there is no skill "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
      hint: "`haversack skill list` shows all",
    });
  });
}

/** The clients in which we hide skills. If there are none, all clients that could, so that each reports it. */
function deferredClients(call: DeferCall, state: string): Deferring[] {
  const { entries, paused } = readReceipt(state).deferred;
  const chosen = chosenDeferrals(call);
  const having = chosen.filter(({ deferral }) => entries[deferral.path] ?? paused[deferral.path]);
  if (having.length > 0) return having;
  const wired = wiredClients(call);
  return wired.length > 0 ? wired : chosen.slice(0, 1);
}
