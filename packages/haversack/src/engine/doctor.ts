/**
 * Looks at everything that must be right for Haversack to work, and says what to do where it is not. Changes nothing: events
 * are sent into a copy of the project's state.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText, isFault } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readLog } from "../base/log.ts";
import { recordTrust, trustRecord } from "../base/project-trust.ts";
import { makeFolder, makeScratch, putNewFile, removeScratch } from "../base/safe-write.ts";
import type { Problem, SkillCard } from "../skills/types.ts";
import { SqliteArtifactStore } from "../store/sqlite/artifacts/artifact-store.ts";
import { whyNotWritable } from "../store/sqlite/faults.ts";
import { backupStore } from "../store/sqlite/maintenance/backup.ts";
import { checkStore, isWriteLocked } from "../store/sqlite/maintenance/check-store.ts";
import { openDatabase, openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { spooledAt, spooledNames } from "../store/sqlite/spool/spool-files.ts";
import { checkResume } from "./artifacts/check-resume.ts";
import { deferredInForce, modeOf } from "./defer-skills.ts";
import { gitRefusal } from "./git-refusal.ts";
import { distrust } from "./open-project.ts";
import {
  type Environment,
  loadConfig,
  notAProject,
  offReason,
  type ProjectPaths,
  readProjectConfig,
} from "./project.ts";
import { refreshIndex } from "./refresh-index.ts";
import { findSkillSources } from "./skill-sources.ts";
import { describeState } from "./state-size.ts";
import { broughtAlong } from "./trust-project.ts";
import type { Client, Deferral, Finding, Installed, Scratch, WiringPlace } from "./wiring.ts";
import { readReceipt } from "./wiring-receipt.ts";

export interface DoctorInput {
  paths: ProjectPaths;
  cwd: string;
  env: Environment;
  installed: Installed;
  now: Date;
  clients: readonly Client[];
  guardCount(index: SqliteSkillIndex): number;
}

export async function runDoctor(input: DoctorInput): Promise<Finding[]> {
  const { paths, env, clients } = input;
  const off = offReason(paths, env);
  const untrusted = distrust(paths);
  const store = untrusted ? untrustedStore(untrusted) : checkStoreFile(paths);
  const scratch = store.level === "fail" ? undefined : copyOfProject(paths);
  try {
    const { findings: index, cards, guards } = checkIndex(input, scratch);
    const place = { ...input, hasGuards: guards > 0, scratch, cards, isOff: off !== undefined };
    const found = clients.filter((client) => client.find({ ...place, scope: "project" }).length > 0);
    const checked: Finding[] = [];
    for (const client of found) {
      const findings = await client.check({ ...place, wasWired: wasWired(client, place) });
      checked.push(...findings, ...checkHidden(client, { ...place, findings, off }));
    }
    const findings: Finding[] = [
      { part: "runtime", level: "ok", text: `Node ${process.versions.node} (${process.execPath})` },
      off === undefined
        ? { part: "switch", level: "ok", text: "on" }
        : {
            part: "switch",
            level: "warn",
            text: `off: ${off.split(";")[0]}`,
            remedy: off.split("; ")[1] ?? "unset HAVERSACK",
          },
      ...checkPlace(paths, env),
      store,
      ...checkBrought(paths, env),
      ...(untrusted ? [] : checkSpool(paths, input.now)),
      ...(scratch && !untrusted ? checkState(paths, scratch, input.now) : []),
      ...checkConfig(paths),
      ...index,
      ...(found.length > 0 ? checked : [noClient(clients)]),
      ...(found.length > 0 && found.every((client) => isUnwired(client, checked)) ? [noneWired()] : []),
      ...(scratch ? await checkResumes(paths, found, scratch) : []),
      ...(untrusted ? [] : [checkLog(paths, input.now)]),
    ];
    return findings.map(({ isSilencing: _, ...finding }) => finding);
  } finally {
    if (scratch) removeScratch(scratch.root);
  }
}

/** By the receipts of this project and of the user. */
function wasWired(client: Client, place: Omit<WiringPlace, "scope"> & { paths: ProjectPaths }): boolean {
  const { paths } = place;
  return (["project", "user"] as const).some((scope) => {
    if (scope === "project" && distrust(paths)) return false;
    const { files } = readReceipt(scope === "user" ? paths.user : paths.state);
    return client.files({ ...place, scope }).some(({ path, isRecordedOnly }) => !isRecordedOnly && files[path]);
  });
}

/** Skills that we took out of the client's listing, while nothing of ours can bring them. */
function checkHidden(
  client: Client,
  { paths, cwd, env, findings, off }: DoctorInput & { findings: readonly Finding[]; off: string | undefined },
): Finding[] {
  const deferral = client.deferral?.({ cwd, env });
  if (!deferral || distrust(paths)) return [];
  const part = `${client.name} hidden skills`;
  try {
    const entries = Object.entries(deferredInForce(deferral, paths.state));
    const count = entries.filter(([, value]) => modeOf(deferral, value) === "hidden").length;
    const because = count > 0 ? whyUnreachable(client, deferral, { findings, off, env }) : undefined;
    if (!because) return [];
    const text = `${count} ${count === 1 ? "skill is" : "skills are"} hidden from its listing (${deferral.path}), and nothing brings them: ${because.why}`;
    return [{ part, level: "fail", text, remedy: because.remedy }];
  } catch (error) {
    const remedy = "correct the file; then `haversack doctor` can say whether skills are hidden";
    return [{ part, level: "warn", text: errorText(error), remedy }];
  }
}

function whyUnreachable(
  client: Client,
  { isReadByFile }: Deferral,
  { findings, off, env }: { findings: readonly Finding[]; off: string | undefined; env: Environment },
): { why: string; remedy: string } | undefined {
  if (off !== undefined && env["HAVERSACK"] === "0") {
    return {
      why: "HAVERSACK=0 is set, and an environment switch changes no settings",
      remedy: "unset HAVERSACK, or use `haversack off` instead: it puts them back into the listing",
    };
  }
  if (off !== undefined) {
    const remedy = `\`haversack off${off.includes("everywhere") ? " --user" : ""}\` once more puts them back into the listing`;
    return { why: "Haversack is off", remedy };
  }
  const cause = findings.find(
    ({ part, level, isSilencing }) =>
      isSilencing || (level === "fail" && !(isReadByFile && part.endsWith("MCP server"))),
  );
  if (!cause) return undefined;
  const back = `\`haversack skills undefer --all --client ${client.name}\` puts them back into the listing`;
  return { why: cause.text, remedy: `${cause.level !== "ok" && cause.remedy ? `${cause.remedy}; ` : ""}${back}` };
}

/** Only where the user wants it: what is known of each client, without a trial, which would call a model. */
async function checkResumes(paths: ProjectPaths, clients: readonly Client[], { root }: Scratch): Promise<Finding[]> {
  const isEnabled = loadConfig(paths).config["artifacts.resume"];
  if (!isEnabled) return [];
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  try {
    const store = new SqliteArtifactStore(handle);
    return await checkResume({ isEnabled, clients: clients.map(({ name }) => name) }, { store });
  } finally {
    handle.db.close();
  }
}

/** Only what is odd about the folder. */
function checkPlace(paths: ProjectPaths, env: Environment): Finding[] {
  const findings: Finding[] = [];
  const special = notAProject(paths);
  if (special && existsSync(paths.state)) {
    const text = `${paths.state} is in ${special}: it is the project of every folder below that has none of its own`;
    const remedy = "if nobody meant it to be there, move it away; `haversack export FILE` keeps its tasks";
    findings.push({ part: "project", level: "warn", text, remedy });
  }
  const refusal = gitRefusal(paths.root, env);
  if (refusal) findings.push({ part: "git", level: "warn", text: refusal.why, remedy: refusal.remedy });
  return findings;
}

/** Its own check has said so, and that was no fault. */
function isUnwired({ name }: Client, findings: readonly Finding[]): boolean {
  return findings.some(({ part, level, isSilencing }) => isSilencing && level === "ok" && part.startsWith(`${name} `));
}

function noneWired(): Finding {
  const remedy = "`haversack init` wires those that are found here";
  return { part: "clients", level: "warn", text: "none is wired: Haversack works at the command line only", remedy };
}

function noClient(clients: readonly Client[]): Finding {
  return {
    part: "clients",
    level: "warn",
    text: `none found; looked for ${clients.map(({ title }) => title).join(", ")}`,
    remedy: "`haversack init --client NAME` wires one that is yet to be installed",
  };
}

function untrustedStore({ why, hint }: { why: string; hint: string }): Finding {
  return { part: "store", level: "fail", text: `not used: ${why}`, remedy: hint };
}

/** What the repository brings that counts only when the user has accepted it, and state that git can replace. */
function checkBrought(paths: ProjectPaths, env: Environment): Finding[] {
  const remedy = "`haversack trust` shows it and asks whether to use it";
  const { settings, templates, rules, parts, unread } = broughtAlong(paths, env);
  const tracked = parts.filter(({ isTracked }) => isTracked).map(({ path }) => path);
  const unaccepted = templates.filter(({ isAccepted }) => !isAccepted);
  return [
    ...settings
      .filter(({ isAccepted }) => !isAccepted)
      .map(({ key, value, why }): Finding => {
        const shown = cleanLine(JSON.stringify(value), { maxChars: 200 });
        const text = `${paths.config}: ${key} ${shown} is ignored: it ${why}`;
        return { part: "config", level: "warn", text, remedy };
      }),
    ...unaccepted.map(({ path }): Finding => {
      const text = `${cleanLine(path, { maxChars: 200 })} is ignored: agents would read it as instructions`;
      return { part: "templates", level: "warn", text, remedy };
    }),
    ...rules
      .filter(({ isAccepted }) => !isAccepted)
      .map(({ path, skill, why, until }): Finding => {
        const rule = cleanLine(`${path}: the rule for “${skill}” ${why}`, { maxChars: 300 });
        return { part: "rules", level: "warn", text: `${rule}, so it ${until}`, remedy };
      }),
    // A problem of the config is told with the others of its kind.
    ...unread
      .filter(({ path }) => join(paths.root, path) !== paths.config)
      .map(({ path, why }): Finding => {
        const part = path.includes("/templates")
          ? "templates"
          : path.endsWith("artifacts.json")
            ? "artifacts"
            : "rules";
        const text = `${cleanLine(path, { maxChars: 200 })} is not read: it ${why}`;
        return { part, level: "warn", text, remedy: "replace it with a regular file, or remove it" };
      }),
    ...(tracked.length > 0 ? [trackedByGit(tracked)] : []),
  ];
}

function trackedByGit(paths: readonly string[]): Finding {
  const [first = ""] = paths;
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return {
    part: "git",
    level: "warn",
    text: `git tracks ${cleanLine(first, { maxChars: 200 })}${more}: whoever can push to this repository can replace it`,
    remedy: "`git rm --cached` stops tracking a file and keeps it here",
  };
}

function checkStoreFile(paths: ProjectPaths): Finding {
  const part = "store";
  const { store } = paths;
  if (!existsSync(store)) {
    const remedy = isMadeBySession(paths) ? MADE_BY_SESSION : "`haversack init` makes it";
    return { part, level: "warn", text: `none yet at ${store}`, remedy };
  }
  try {
    const { ok, problems, facts } = checkStore(store);
    if (ok) {
      const text = `sound, ${Math.ceil(facts.sizeBytes / 1000)} kB, schema ${facts.version}`;
      const why = whyNotWritable(store);
      if (!why && isWriteLocked(store)) {
        const remedy = "end that program if it is stuck; until then hooks keep what they note in .haversack/spool";
        return { part, level: "warn", text: `${text}. Another program holds its lock for writing`, remedy };
      }
      return why
        ? { part, level: "fail", text: `${text}. ${why.message}`, ...(why.hint && { remedy: why.hint }) }
        : { part, level: "ok", text };
    }
    return {
      part,
      level: "fail",
      text: problems.join("; "),
      remedy: "`haversack store restore FILE` takes the content back from a backup and keeps this file beside it",
    };
  } catch (error) {
    const hint = isFault(error) ? error.hint : undefined;
    return { part, level: "fail", text: errorText(error), remedy: hint ?? "`haversack store check` says more" };
  }
}

/** See `withoutStore` in answer-hook.ts. */
function isMadeBySession({ config }: ProjectPaths): boolean {
  return existsSync(config);
}

const MADE_BY_SESSION =
  "the next session of a wired client makes it and indexes the skills; `haversack skills index` does it now";

/** Only what still waits after a minute: until then the next event or command reads it in. */
function checkSpool({ store }: ProjectPaths, now: Date): Finding[] {
  const names = spooledNames(store);
  const since = spooledAt(names[0]);
  if (since === undefined || now.getTime() - since.getTime() < 60_000) return [];
  const text = `${names.length} ${names.length === 1 ? "event waits" : "events wait"} to be saved, the first since ${since.toISOString()}`;
  const remedy = "`haversack status` reads them in; if it does not, another program holds the store's lock";
  return [{ part: "spool", level: "warn", text, remedy }];
}

function checkState(paths: ProjectPaths, scratch: Scratch, now: Date): Finding[] {
  if (!existsSync(paths.store)) return [];
  const handle = openDatabase(join(scratch.root, ".haversack/haversack.db"), { durability: "normal" });
  try {
    return [describeState(paths, { handle, days: loadConfig(paths).config["store.retentionDays"], now })];
  } finally {
    handle.db.close();
  }
}

function checkConfig(paths: ProjectPaths): Finding[] {
  const part = "config";
  const { problems, ignored } = loadConfig(paths);
  // What is ignored has its own lines.
  if (problems.length === 0) return ignored.length > 0 ? [] : [{ part, level: "ok", text: "no problems" }];
  return problems.map(({ level, file, path, text }) => ({
    part,
    level: level === "error" ? "fail" : "warn",
    text: `${file}: ${path ? `${path} ` : ""}${text}`,
    remedy: "correct it there; `haversack config` lists every setting",
  }));
}

/** The files as they are now against the index as it is: by bringing the copy up to date and counting what that took. */
function checkIndex(
  { paths, env, guardCount }: DoctorInput,
  scratch: Scratch | undefined,
): { findings: Finding[]; cards: SkillCard[]; guards: number } {
  const handle = scratch
    ? openDatabase(join(scratch.root, ".haversack/haversack.db"), { durability: "normal" })
    : openMemoryStore();
  try {
    const sources = findSkillSources(paths.root, {
      env,
      folders: loadConfig(paths).config["skills.folders"],
      fs: diskFileSystem,
    });
    const { read, removed, problems } = refreshIndex(handle, { ...sources, fs: diskFileSystem });
    const index = new SqliteSkillIndex(handle.db);
    const wrong = [...sources.problems, ...problems].filter(({ level }) => level === "error").length;
    const text = `${index.size} ${index.size === 1 ? "skill" : "skills"}`;
    const finding: Finding =
      read + removed > 0
        ? {
            part: "index",
            level: "warn",
            ...staleIndex(paths, { text, read, removed }),
          }
        : wrong > 0
          ? {
              part: "index",
              level: "warn",
              text: `${text}, fresh; ${wrong} files have errors`,
              remedy: "`haversack skills check` lists them",
            }
          : { part: "index", level: "ok", text: `${text}, fresh` };
    return { findings: [finding, ...ignoredLinks(problems)], cards: index.listCards(), guards: guardCount(index) };
  } finally {
    handle.db.close();
  }
}

function staleIndex(
  paths: ProjectPaths,
  { text, read, removed }: { text: string; read: number; removed: number },
): { text: string; remedy: string } {
  if (distrust(paths))
    return { text: `${text}, not indexed: the store is not used`, remedy: "`haversack trust` shows it and asks" };
  if (!existsSync(paths.store)) {
    const remedy = isMadeBySession(paths)
      ? MADE_BY_SESSION
      : "`haversack skills index` makes the store and indexes them";
    return { text: `${text}, not indexed yet`, remedy };
  }
  return {
    text: `${text}; ${read} files are new or changed and ${removed} gone since it was made`,
    remedy: "`haversack skills index` brings it up to date; the next session start does too",
  };
}

/** Skills that are linked into a folder and cannot be found through the link. */
function ignoredLinks(problems: readonly Problem[]): Finding[] {
  const [first, ...others] = problems.filter(({ code }) => code.startsWith("link-"));
  if (!first) return [];
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const text = `${others.length + 1} ignored: ${first.file}: ${first.text}${more}`;
  return [{ part: "skill links", level: "warn", text, remedy: "`haversack skills check` lists them" }];
}

const DAY_MS = 24 * 60 * 60 * 1000;

function checkLog({ log }: ProjectPaths, now: Date): Finding {
  const errors = readLog(log, { level: "error", since: new Date(now.getTime() - DAY_MS), limit: 1000 });
  const last = errors.at(-1);
  if (!last) return { part: "log", level: "ok", text: "no errors in the last day" };
  const text = `${errors.length} ${errors.length === 1 ? "error" : "errors"} in the last day; the last: ${last.part}: ${last.text.slice(0, 200)}`;
  return { part: "log", level: "warn", text, remedy: "`haversack log --level error` shows all" };
}

/** A folder with a copy of the store and the settings. Whoever makes it removes it. */
function copyOfProject(paths: ProjectPaths): Scratch {
  const root = makeScratch(join(tmpdir(), "haversack-doctor-"));
  const state = join(root, ".haversack");
  const store = join(state, "haversack.db");
  const stateHome = join(root, "state");
  const userState = join(stateHome, "haversack");
  const accepted = trustRecord(paths.state, paths.userState);
  const place = { within: root };
  makeFolder(state, place);
  if (existsSync(paths.store)) backupStore(paths.store, store);
  else putNewFile(store, "", { ...place, mode: 0o600 });
  const config = readProjectConfig(paths)?.text;
  if (config !== undefined) putNewFile(join(state, "config.json"), config, place);
  recordTrust(state, userState, { ...accepted, at: new Date() });
  return {
    root,
    stateHome,
    hasSession(sessionId) {
      const handle = openDatabase(store, { durability: "normal" });
      try {
        const sessions = new SqliteLocalStore(handle).listSessions({ limit: 1000 });
        return sessions.some((session) => session.sessionId === sessionId);
      } finally {
        handle.db.close();
      }
    },
    errors: () => readLog(join(state, "log"), { level: "error" }).map(({ text }) => text),
  };
}
