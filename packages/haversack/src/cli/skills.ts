/** What the skill commands begin with: the index, fresh, and the ledger. */

import { resolve } from "node:path";
import { diskFileSystem } from "../base/file-system.ts";
import { readHead } from "../base/read-text.ts";
import { retireOldState } from "../engine/open-project.ts";
import { type RefreshReport, refreshIndex } from "../engine/refresh-index.ts";
import { listSkillResources, readSkillResource } from "../engine/skill-folder.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import { type DiscoverSettings, discoverSettings } from "../skills/showing/session.ts";
import type { SkillResources } from "../skills/showing/skill-output.ts";
import type { Problem } from "../skills/types.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import type { Call } from "./command.ts";
import { openProject, type Project } from "./project.ts";
import { readNamedFile } from "./read-file.ts";
import { startProgress } from "./terminal.ts";

export interface OpenSkills extends Project {
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  sessions: SqliteLocalStore;
  settings: DiscoverSettings;
  problems: Problem[];
  report: RefreshReport | undefined;
  /** The beginning of a file of the project, for rules that look into files. */
  readHead(path: string): string | undefined;
  listResources(folder: string): SkillResources;
  readResource(id: string, path: string): { text: string } | { problem: string };
}

export interface OpenSkillsOptions {
  /** Check the files and bring the index up to date. Default: true. */
  refresh?: boolean;
  isRebuild?: boolean;
  /**
   * Where there is no store: `read` and `keep` answer from memory, but `keep` makes one in a repository, because what was shown is
   * to be remembered; `make` needs one. Default: read.
   */
  store?: "read" | "keep" | "make";
  /** Rules of this file alone, for this call; the project's index is not touched. */
  rulesFile?: string;
}

const STORE_ACCESS = { read: "look", keep: "answer", make: "save" } as const;

export function openSkills(
  call: Call,
  { refresh = true, isRebuild = false, store = "read", rulesFile }: OpenSkillsOptions = {},
): OpenSkills {
  const project = openProject(call, { access: STORE_ACCESS[store] });
  const { paths, config, handle } = project;
  // One that cannot be written cannot be brought up to date.
  const indexed = rulesFile === undefined && !(refresh && handle.isReadOnly) ? handle : openMemoryStore();
  const sources = findSkillSources(paths.root, {
    env: call.io.env,
    folders: config["skills.folders"],
    fs: diskFileSystem,
  });
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
      // Whoever asks for JSON is a script, even in a terminal.
      ...(!call.json && { onProgress: progress.step }),
    });
    progress.end();
  }
  // Hooks start `skills index` in the background, so this comes by in projects without work too.
  if (store === "make") retireOldState(handle, { paths, days: config["store.retentionDays"], now: new Date() });
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
