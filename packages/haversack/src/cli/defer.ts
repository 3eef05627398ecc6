/** What `skills defer` and `skills undefer` share. */
import { diskFileSystem } from "../base/file-system.ts";
import { CLIENTS } from "../clients/table.ts";
import type { DeferReport } from "../engine/defer-skills.ts";
import { readText } from "../engine/init.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import type { Client, Deferral, WiringPlace } from "../engine/wiring.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import type { SkillCard } from "../skills/types.ts";
import type { Call, OptionSpec } from "./command.ts";
import { findInstalled } from "./installed.ts";
import type { OpenSkills } from "./skills.ts";

export interface DeferOptions {
  all?: boolean;
  "dry-run"?: boolean;
}

export const CLIENT_OPTION: OptionSpec = {
  type: "string",
  value: "NAME",
  choices: CLIENTS.map(({ name }) => name),
  about: "This client alone (default: all that Haversack is wired into here).",
};

export interface Deferring {
  client: Client;
  deferral: Deferral;
}

/** `--client`; else those that are wired or have our package; else Claude Code, which may be wired later. */
export function deferringClients(call: Call): Deferring[] {
  const { io, options } = call;
  const place = { cwd: io.cwd, env: io.env };
  const all = everyDeferral(call);
  if (options["client"]) return all.filter(({ client }) => client.name === options["client"]);
  const here = all.filter(({ client }) => client.isPackaged?.(place) || isWired(client, place));
  return here.length > 0 ? here : all.slice(0, 1);
}

export function everyDeferral({ io }: Call): Deferring[] {
  return CLIENTS.flatMap((client): Deferring[] => {
    const deferral = client.deferral?.({ cwd: io.cwd, env: io.env });
    return deferral ? [{ client, deferral }] : [];
  });
}

/** Whether one of its files has something of ours. */
function isWired(client: Client, place: Pick<WiringPlace, "cwd" | "env">): boolean {
  const installed = findInstalled();
  return (["project", "user"] as const).some((scope) =>
    client.files({ ...place, scope, installed, hasGuards: false }).some(({ path, isRecordedOnly, unwire }) => {
      const text = isRecordedOnly ? undefined : readText(path);
      if (!text?.trim()) return false;
      try {
        return unwire(text, []) !== text;
      } catch {
        // A file that cannot be understood has nothing that works; `doctor` says what is wrong with it.
        return false;
      }
    }),
  );
}

/**
 * Every skill, also those that another of the same name stands before: of two folders whose files say the same name, the
 * client lists both.
 */
export function listedSkills({ io }: Call, { paths, config, index }: OpenSkills): SkillCard[] {
  const cards = index.listCards();
  const known = new Set(cards.map(({ path }) => path));
  const { roots } = findSkillSources(paths.root, {
    env: io.env,
    folders: config["skills.folders"],
    fs: diskFileSystem,
  });
  const { files } = findSkillFiles(roots, diskFileSystem);
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

export interface ClientReport extends DeferReport {
  client: Client;
}

export function formatDefer(
  reports: readonly ClientReport[],
  { headline, isDryRun }: { headline: (count: string, file: string) => string; isDryRun: boolean },
): string {
  const isChanged = reports.some((report) => report.isChanged);
  const lines = reports.flatMap((report) => {
    const { client, file, skills, skipped } = report;
    const count = `${skills.length} ${skills.length === 1 ? "skill is" : "skills are"}`;
    const head = skills.length > 0 ? headline(count, file) : "No skill was changed.";
    return [
      reports.length > 1 ? `${client.title}: ${head}` : head,
      ...skipped.map(({ name, why }) => `  not ${name}: ${why}`),
      ...(skills.length > 0 && !report.isChanged ? ["It was so already."] : []),
    ];
  });
  const end = isDryRun ? "Nothing was written (--dry-run)." : "It counts in sessions that start from now on.";
  return [...lines, ...(isChanged ? [end] : [])].join("\n");
}

/** For `--json`. */
export function deferData(reports: readonly ClientReport[], isDryRun: boolean) {
  return reports.map(({ client, file, skills, skipped, isChanged }) => ({
    client: client.name,
    file,
    skills,
    skipped,
    changed: isChanged && !isDryRun,
  }));
}
