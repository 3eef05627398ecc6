/** For tests: a project whose files are in memory, with a real store in memory, used through the engine. */

import type { FileSystem } from "../base/file-system.ts";
import { PROFILES } from "../skills/showing/activation.ts";
import type { DiscoverSettings } from "../skills/showing/disclosure.ts";
import type { SkillRoot } from "../skills/skill-files.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import { type DiscoverInput, discover } from "./discover.ts";
import { loadSkill } from "./load-skill.ts";
import { refreshIndex } from "./refresh-index.ts";

export class FakeFiles implements FileSystem {
  readonly #files = new Map<string, { text: string; mtimeMs: number }>();
  #clock = 1;
  /** Paths in the order they were read. */
  reads: string[] = [];
  /** Called before a file is read; may throw or change files. */
  beforeRead: (path: string) => void = () => undefined;

  write(path: string, text: string): void {
    this.#files.set(path, { text, mtimeMs: this.#clock++ });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  readFile(path: string): string {
    this.beforeRead(path);
    this.reads.push(path);
    return this.#find(path).text;
  }

  readDir(path: string) {
    const names = new Map<string, "file" | "folder">();
    for (const file of this.#files.keys()) {
      if (!file.startsWith(`${path}/`)) continue;
      const [name = "", ...rest] = file.slice(path.length + 1).split("/");
      names.set(name, rest.length > 0 ? "folder" : "file");
    }
    return [...names].map(([name, kind]) => ({ name, kind }));
  }

  stat(path: string) {
    const file = this.#files.get(path);
    if (file) return { kind: "file" as const, size: Buffer.byteLength(file.text), mtimeMs: file.mtimeMs };
    this.realpath(path);
    return { kind: "folder" as const, size: 0, mtimeMs: 0 };
  }

  realpath(path: string): string {
    const isThere = this.#files.has(path) || [...this.#files.keys()].some((file) => file.startsWith(`${path}/`));
    if (!isThere) throw missing(path);
    return path;
  }

  #find(path: string) {
    const file = this.#files.get(path);
    if (!file) throw missing(path);
    return file;
  }
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: "ENOENT" });
}

export const SETTINGS: DiscoverSettings = {
  maxSkills: 3,
  recommendThreshold: 0.4,
  autoLoadThreshold: 0.6,
  autoLoad: "asked",
  enforce: false,
  idleMinutes: 30,
  isLearning: false,
  forgetAfterPrompts: 100,
};

const NEAR = "/repo/.haversack/skills";
const FAR = "/repo/.claude/skills";
/** All rules belong to the user. */
const OWN_RULES = { root: "/elsewhere", accepted: [] };
export const RULES_FILE = "/repo/.claude/skill-rules.json";

export function skillText(name: string, description: string, { more = "", body = `How to ${name}.` } = {}): string {
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n${more}---\n\n${body}\n`;
}

export function fakeProject() {
  const files = new FakeFiles();
  const handle = openMemoryStore();
  const ledger = new SkillLedger(handle);
  const sessions = new SqliteLocalStore(handle);
  const roots: SkillRoot[] = [
    { dir: NEAR, source: { kind: "project", label: ".haversack/skills", rank: 0 } },
    { dir: FAR, source: { kind: "project", label: ".claude/skills", rank: 1 } },
  ];
  let at = new Date("2026-03-01T12:00:00Z");
  const project = {
    files,
    handle,
    ledger,
    sessions,
    roots,
    settings: { ...SETTINGS },
    /** In `.claude/skills`, or nearer in `.haversack/skills`. */
    skill(name: string, description: string, options: { more?: string; body?: string; near?: boolean } = {}) {
      const path = `${options.near ? NEAR : FAR}/${name}/SKILL.md`;
      files.write(path, skillText(name, description, options));
      return path;
    },
    rules(value: unknown) {
      files.write(RULES_FILE, typeof value === "string" ? value : JSON.stringify(value));
    },
    refresh(options: Partial<Parameters<typeof refreshIndex>[1]> = {}) {
      return refreshIndex(handle, { roots, ruleFiles: [RULES_FILE], ruleTrust: OWN_RULES, fs: files, ...options });
    },
    index: () => new SqliteSkillIndex(handle.db),
    /** Time passes before the next prompt. */
    wait(minutes: number) {
      at = new Date(at.getTime() + minutes * 60_000);
    },
    now: () => at,
    compact(sessionId = "s", agentId = "") {
      sessions.touchSession({ sessionId, agentId, client: "plain", cwd: "/repo", at, event: "window" });
    },
    /** Brings the index up to date, then sends a prompt a minute later. */
    prompt(prompt: string, options: Partial<DiscoverInput> = {}) {
      project.wait(1);
      project.refresh();
      return discover(
        { sessionId: "s", client: PROFILES["claude-code"]!, cwd: "/repo", at, prompt, ...options },
        { index: project.index(), ledger, settings: project.settings },
      );
    },
    load(name: string, options: Partial<Parameters<typeof loadSkill>[0]> = {}) {
      project.refresh();
      return loadSkill(
        { name, at, session: { sessionId: "s" }, ...options },
        { index: project.index(), ledger, listResources: () => ({ reference: [], assets: [], scripts: [] }) },
      );
    },
  };
  return project;
}
