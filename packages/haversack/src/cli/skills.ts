/** What the skill commands need first: an up-to-date index, and the ledger. */
import { resolve } from "node:path";
import { readHead } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { listSkillResources, readSkillResource } from "../engine/load-skill.ts";
import { discoverSettings } from "../engine/project.ts";
import { type RefreshReport, refreshIndex } from "../engine/refresh-index.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import type { DiscoverSettings } from "../skills/showing/disclosure.ts";
import type { SkillResources } from "../skills/showing/skill-output.ts";
import type { Problem } from "../skills/types.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import type { Call } from "./command.ts";
import { openProject, type Project, readNamedFile, retireOld } from "./project.ts";
import { startProgress } from "./terminal.ts";

export interface OpenSkills extends Project {
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  sessions: SqliteLocalStore;
  settings: DiscoverSettings;
  problems: Problem[];
  report: RefreshReport | undefined;
  /** The start of a project file, for rules that look into files. */
  readHead(path: string): string | undefined;
  listResources(folder: string): SkillResources;
  readResource(id: string, path: string): { text: string } | { problem: string };
}

export interface OpenSkillsOptions {
  /** Check the files and bring the index up to date. Default: true. */
  refresh?: boolean;
  isRebuild?: boolean;
  /**
   * If there is no store: `read` and `keep` answer from memory, but in a repository `keep` creates one to remember what was shown. `make`
   * needs one. Default: read.
   */
  store?: "read" | "keep" | "make";
  /** Use only the rules of this file, for this call. The project's index is not changed. */
  rulesFile?: string;
}

/** The folders and files that skills and rules of the project come from. */
export function skillSources({ io }: Pick<Call, "io">, { paths, config }: Project) {
  return findSkillSources(paths.root, { env: io.env, folders: config["skills.folders"], fs: diskFileSystem });
}

const STORE_ACCESS = { read: "look", keep: "answer", make: "save" } as const;

export function openSkills(
  call: Pick<Call, "io" | "json">,
  { refresh = true, isRebuild = false, store = "read", rulesFile }: OpenSkillsOptions = {},
): OpenSkills {
  const project = openProject(call, { access: STORE_ACCESS[store] });
  const { paths, config, handle } = project;
  // A read-only store cannot be brought up to date, so use one in memory.
  const indexed = rulesFile === undefined && !(refresh && handle.isReadOnly) ? handle : openMemoryStore();
  const sources = skillSources(call, project);
  if (rulesFile !== undefined) {
    readNamedFile(call, rulesFile);
    sources.ruleFiles = [resolve(call.io.cwd, rulesFile)];
  }

  let report: RefreshReport | undefined;
  if (refresh) {
    const progress = startProgress(call.io, "Indexing");
    report = refreshIndex(indexed, {
      ...sources,
      fs: diskFileSystem,
      isRebuild,
      // With `--json` the caller is a script, even in a terminal.
      ...(!call.json && { onProgress: progress.step }),
    });
    progress.end();
  }
  // Hooks start `skill index` in the background, so this also runs in projects without work.
  if (store === "make") retireOld(project);
  const index = new SqliteSkillIndex(indexed.db);
  return {
    ...project,
    index,
    ledger: new SkillLedger(handle),
    sessions: new SqliteLocalStore(handle),
    settings: discoverSettings(config),
    problems: [...sources.problems, ...(report?.problems ?? [])],
    report,
    readHead: (path) => readHead(resolve(paths.root, path)),
    listResources: listSkillResources,
    readResource: (id, path) => {
      const read = readSkillResource(id, path, index);
      return read.kind === "text" ? { text: read.text } : { problem: read.text };
    },
  };
}
