/** What `skills defer` and `skills undefer` share. */
import { HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { CLIENTS } from "../clients/table.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import type { Client, Deferral } from "../engine/wiring.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import type { SkillCard } from "../skills/types.ts";
import type { Call } from "./command.ts";
import type { OpenSkills } from "./skills.ts";

export interface DeferOptions {
  all?: boolean;
  "dry-run"?: boolean;
}

/** The client that can defer. One so far; a second brings `--client` here too. */
export function requireDeferral({ io }: Call): { client: Client; deferral: Deferral } {
  for (const client of CLIENTS) {
    const deferral = client.deferral?.({ cwd: io.cwd, env: io.env });
    if (deferral) return { client, deferral };
  }
  throw new HaversackError("not-found", "no client here can defer skills");
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

export function formatDefer(options: {
  skills: readonly string[];
  skipped: readonly { name: string; why: string }[];
  headline: (count: string) => string;
  isChanged: boolean;
  isDryRun: boolean;
}): string {
  const { skills, skipped, headline, isChanged, isDryRun } = options;
  const count = `${skills.length} ${skills.length === 1 ? "skill is" : "skills are"}`;
  return [
    skills.length > 0 ? headline(count) : "No skill was changed.",
    ...skipped.map(({ name, why }) => `  not ${name}: ${why}`),
    ...(skills.length > 0 && !isChanged ? ["It was so already."] : []),
    ...(isChanged
      ? [isDryRun ? "Nothing was written (--dry-run)." : "It counts in sessions that start from now on."]
      : []),
  ].join("\n");
}
