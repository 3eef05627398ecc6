/**
 * Checks everything that Haversack needs to work, and says how to fix what is wrong. Changes nothing: test events go to a copy of the
 * project's state.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText, isFault } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readLog } from "../base/log.ts";
import { recordTrust, trustRecord } from "../base/project-trust.ts";
import { isWritable, makeFolder, makeScratch, putNewFile, removeScratch } from "../base/safe-write.ts";
import type { Problem, SkillCard } from "../skills/types.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { SqliteArtifactStore } from "../store/sqlite/artifacts/artifact-store.ts";
import { whyNotWritable } from "../store/sqlite/connect.ts";
import { backupStore } from "../store/sqlite/maintenance/backup.ts";
import { checkStore, isWriteLocked } from "../store/sqlite/maintenance/check-store.ts";
import { openDatabase, openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { spooledAt, spooledNames } from "../store/sqlite/spool/spool-files.ts";
import { checkResume } from "./artifacts/check-resume.ts";
import { deferredInForce, modeOf } from "./defer-skills.ts";
import { distrust } from "./open-project.ts";
import {
  describeProblem,
  type Environment,
  isSetUp,
  loadConfig,
  notAProject,
  offReason,
  type ProjectPaths,
  readProjectConfig,
  usableConfig,
} from "./project.ts";
import { refreshIndex } from "./refresh-index.ts";
import { findSkillSources } from "./skill-sources.ts";
import { describeState } from "./state-size.ts";
import { describeTeam, teamState } from "./team/team-state.ts";
import { broughtAlong } from "./trust-project.ts";
import type { Client, Deferral, Finding, Installed, Scope, Scratch, WiringPlace } from "./wiring.ts";
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
  const store: Finding = untrusted
    ? { part: "store", level: "fail", text: `not used: ${untrusted.why}`, remedy: untrusted.hint }
    : checkStoreFile(paths);
  const scratch = store.level === "fail" ? undefined : copyOfProject(paths);
  try {
    // Before the test events, which start sessions in the copy.
    const state = scratch && !untrusted ? checkState(paths, scratch, input.now) : [];
    const { findings: index, cards, guards } = checkIndex(input, scratch);
    const seesOutputs = loadConfig(paths).config["outputs.replace_over"] > 0;
    const place = { ...input, hasGuards: guards > 0, seesOutputs, scratch, cards, isOff: off !== undefined };
    const found = clients.filter((client) => client.find({ ...place, scope: "project" }).length > 0);
    const checked: Finding[] = [];
    for (const client of found) {
      const wiredFor = scopeOfWiring(client, place);
      const wiring = { wasWired: wiredFor !== undefined, ...(wiredFor && { wiredFor }) };
      const findings = await client.check({ ...place, ...wiring });
      checked.push(...findings, ...checkHidden(client, { ...place, findings, off }));
    }
    // The client's own check reported that it is not wired, and not as a fault.
    const unwired = checked.filter(({ level, isSilencing }) => isSilencing && level === "ok").map(({ part }) => part);
    const isUnwired = ({ name }: Client) => unwired.some((part) => part.startsWith(`${name} `));
    const none = `none found; looked for ${clients.map(({ title }) => title).join(", ")}`;
    const findings: Finding[] = [
      ok("runtime", `Node ${process.versions.node} (${process.execPath})`),
      off === undefined
        ? ok("switch", "on")
        : warn("switch", `off: ${off.split(";")[0]}`, off.split("; ")[1] ?? "unset HAVERSACK"),
      ...checkPlace(paths, env),
      store,
      ...checkBrought(paths, env),
      ...(untrusted ? [] : checkSpool(paths, input.now)),
      ...state,
      ...checkConfig(paths),
      ...index,
      ...(found.length > 0
        ? checked
        : [warn("clients", none, "`haversack init --client NAME` connects one that you install later")]),
      ...(found.length > 0 && found.every(isUnwired) ? [noneWired(paths)] : []),
      ...(scratch ? await checkResumes(paths, found, scratch) : []),
      ...(untrusted ? [] : [checkLog(paths, input.now)]),
    ];
    return findings.map(({ isSilencing: _, ...finding }) => finding);
  } finally {
    if (scratch) removeScratch(scratch.root);
  }
}

function ok(part: string, text: string): Finding {
  return { part, level: "ok", text };
}

function warn(part: string, text: string, remedy: string): Finding {
  return { part, level: "warn", text, remedy };
}

/** According to the receipts of this project and of the user. */
function scopeOfWiring(client: Client, place: Omit<WiringPlace, "scope"> & { paths: ProjectPaths }): Scope | undefined {
  const { paths } = place;
  return (["project", "user"] as const).find((scope) => {
    if (scope === "project" && distrust(paths)) return false;
    const { files } = readReceipt(scope === "user" ? paths.user : paths.state);
    return client.files({ ...place, scope }).some(({ path, isRecordedOnly }) => !isRecordedOnly && files[path]);
  });
}

/** Skills that we hid from the client's listing while nothing of ours can load them. */
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
    const text = `${count} ${count === 1 ? "skill is" : "skills are"} hidden from its listing (${deferral.path}), and nothing loads them: ${because.why}`;
    return [{ part, level: "fail", text, remedy: because.remedy }];
  } catch (error) {
    const remedy = "correct the file; then `haversack doctor` can say whether skills are hidden";
    return [warn(part, errorText(error), remedy)];
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
      remedy: "unset HAVERSACK, or use `haversack off` instead, which lists them again",
    };
  }
  if (off !== undefined) {
    const remedy = `\`haversack off${off.includes("everywhere") ? " --user" : ""}\` lists them again`;
    return { why: "Haversack is off", remedy };
  }
  const cause = findings.find(
    ({ part, level, isSilencing }) =>
      isSilencing || (level === "fail" && !(isReadByFile && part.endsWith("MCP server"))),
  );
  if (!cause) return undefined;
  const back = `\`haversack skill undefer --all --client ${client.name}\` lists them again`;
  return { why: cause.text, remedy: `${cause.level !== "ok" && cause.remedy ? `${cause.remedy}; ` : ""}${back}` };
}

/** Only if the user switched it on. Reports what is known of each client; a trial would call a model. */
async function checkResumes(paths: ProjectPaths, clients: readonly Client[], scratch: Scratch): Promise<Finding[]> {
  if (!loadConfig(paths).config["artifacts.resume"]) return [];
  const handle = openCopy(scratch);
  try {
    const store = new SqliteArtifactStore(handle);
    return await checkResume({ isEnabled: true, clients: clients.map(({ name }) => name) }, { store });
  } finally {
    handle.db.close();
  }
}

function openCopy({ root }: Pick<Scratch, "root">): StoreHandle {
  return openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
}

/** Reports only what is unusual about the folder. */
function checkPlace(paths: ProjectPaths, env: Environment): Finding[] {
  const findings: Finding[] = [];
  const special = notAProject(paths);
  if (special && existsSync(paths.state)) {
    const text = `${paths.state} is in ${special}: it is the project of every folder below that has none of its own`;
    const remedy = "if it is there by mistake, move it away; `haversack export FILE` saves its tasks first";
    findings.push(warn("project", text, remedy));
  }
  const refusal = gitRefusal(paths.root, env);
  if (refusal) findings.push(warn("git", refusal.why, refusal.remedy));
  return findings;
}

function noneWired(paths: ProjectPaths): Finding {
  const folder = unwritableFolder(paths);
  const remedy = `\`haversack init\` connects those that are found here${folder ? `, once ${folder} can be written` : ""}`;
  return warn("clients", "none is connected: Haversack works at the command line only", remedy);
}

/** Parts of the repository that need the user's acceptance, and state that git can replace. */
function checkBrought(paths: ProjectPaths, env: Environment): Finding[] {
  const remedy = "`haversack trust` shows it and asks whether to use it";
  const { settings, templates, rules, parts, unread } = broughtAlong(paths, env);
  const tracked = parts.filter(({ isTracked }) => isTracked).map(({ path }) => path);
  const isOpen = ({ isAccepted }: { isAccepted: boolean }) => !isAccepted;
  return [
    ...settings.filter(isOpen).map(({ key, value, why }) => {
      const shown = cleanLine(JSON.stringify(value), { maxChars: 200 });
      return warn("config", `${paths.config}: ${key} ${shown} is ignored: it ${why}`, remedy);
    }),
    ...templates.filter(isOpen).map(({ path }) => {
      const text = `${cleanLine(path, { maxChars: 200 })} is ignored: agents would read it as instructions`;
      return warn("templates", text, remedy);
    }),
    ...rules.filter(isOpen).map(({ path, skill, why, until }) => {
      const rule = cleanLine(`${path}: the rule for “${skill}” ${why}`, { maxChars: 300 });
      return warn("rules", `${rule}, so it ${until}`, remedy);
    }),
    // Problems of the config are reported by the config check.
    ...unread
      .filter(({ path }) => join(paths.root, path) !== paths.config)
      .map(({ path, why }) => {
        const other = path.endsWith("artifacts.json") ? "artifacts" : "rules";
        const part = path.includes("/templates") ? "templates" : other;
        const text = `${cleanLine(path, { maxChars: 200 })} is not read: it ${why}`;
        return warn(part, text, "replace it with a regular file, or remove it");
      }),
    ...(tracked.length > 0 ? [trackedByGit(tracked)] : []),
  ];
}

function trackedByGit(paths: readonly string[]): Finding {
  const [first = ""] = paths;
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  const text = `git tracks ${cleanLine(first, { maxChars: 200 })}${more}: whoever can push to this repository can replace it`;
  return warn("git", text, "`git rm --cached` stops tracking a file and keeps it here");
}

function checkStoreFile(paths: ProjectPaths): Finding {
  const part = "store";
  const { store } = paths;
  if (!existsSync(store)) {
    const folder = unwritableFolder(paths);
    if (folder) {
      const text = `none yet at ${store}, and ${folder} cannot be written`;
      return { part, level: "fail", text, remedy: `make ${folder} writable for you, then run \`haversack init\`` };
    }
    const remedy = isSetUp(paths) ? MADE_BY_SESSION : "`haversack init` makes it";
    return warn(part, `none yet at ${store}`, remedy);
  }
  try {
    const { ok: isSound, problems, facts } = checkStore(store);
    if (!isSound) {
      const remedy = "`haversack store restore FILE` restores a backup and keeps this file beside it";
      return { part, level: "fail", text: problems.join("; "), remedy };
    }
    const text = `sound, ${Math.ceil(facts.sizeBytes / 1000)} kB, schema ${facts.version}`;
    const why = whyNotWritable(store);
    if (why) return { part, level: "fail", text: `${text}. ${why.message}`, ...(why.hint && { remedy: why.hint }) };
    if (!isWriteLocked(store)) return ok(part, text);
    const remedy = "end that program if it is stuck; until then hooks store their events in .haversack/spool";
    return warn(part, `${text}. Another program holds its lock for writing`, remedy);
  } catch (error) {
    const hint = isFault(error) ? error.hint : undefined;
    return { part, level: "fail", text: errorText(error), remedy: hint ?? "`haversack store check` says more" };
  }
}

/** The folder that `haversack init` would write into, if this user may not. */
function unwritableFolder({ state, root }: ProjectPaths): string | undefined {
  const folder = existsSync(state) ? state : root;
  return isWritable(folder) ? undefined : folder;
}

const MADE_BY_SESSION =
  "the next session of a connected client makes it and indexes the skills; `haversack skill index` does it now";

/** Reports only entries older than a minute: the next event or command will read newer ones. */
function checkSpool({ store }: ProjectPaths, now: Date): Finding[] {
  const names = spooledNames(store);
  const since = spooledAt(names[0]);
  if (since === undefined || now.getTime() - since.getTime() < 60_000) return [];
  const text = `${names.length} ${names.length === 1 ? "event waits" : "events wait"} to be saved, the first since ${since.toISOString()}`;
  const remedy = "`haversack status` saves them; if it does not, another program has locked the store";
  return [warn("spool", text, remedy)];
}

/** Longer than any forwarding process waits, so no process is forwarding. */
const LATE_MS = 5 * 60_000;

function checkTeam(handle: StoreHandle, now: Date): Finding[] {
  const team = teamState(handle);
  if (!team) return [];
  const part = "shared store";
  const text = `${team.shared}: ${describeTeam(team, now)}`;
  if (team.conflicts > 0) return [warn(part, text, "`haversack store conflicts` shows what was not saved there")];
  const { oldest } = team.backlog;
  if (team.offline || (oldest && now.getTime() - oldest.getTime() > LATE_MS))
    return [warn(part, text, "`haversack store status` shows whether it answers; any command sends what waits")];
  return [ok(part, text)];
}

function checkState(paths: ProjectPaths, scratch: Scratch, now: Date): Finding[] {
  if (!existsSync(paths.store)) return [];
  const handle = openCopy(scratch);
  try {
    const days = usableConfig(paths, () => undefined)["store.retention_days"];
    return [describeState(paths, { handle, days, now }), ...checkTeam(handle, now)];
  } finally {
    handle.db.close();
  }
}

function checkConfig(paths: ProjectPaths): Finding[] {
  const part = "config";
  const { config, problems, ignored } = loadConfig(paths);
  // Ignored settings are reported separately.
  if (problems.length === 0) return ignored.length > 0 ? [] : [ok(part, "no problems")];
  return problems.map((problem) => ({
    part,
    // Without a readable file hooks do nothing; a wrong value alone stops nothing.
    level: problem.level === "error" && problem.path === "" ? "fail" : "warn",
    text: describeProblem(problem, config),
    remedy: "correct it there; `haversack config` lists every setting",
  }));
}

/** Compares files and index: brings the copy up to date and counts what had to change. */
function checkIndex(
  { paths, env, guardCount }: DoctorInput,
  scratch: Scratch | undefined,
): { findings: Finding[]; cards: SkillCard[]; guards: number } {
  const handle = scratch ? openCopy(scratch) : openMemoryStore();
  try {
    const folders = loadConfig(paths).config["skills.folders"];
    const sources = findSkillSources(paths.root, { env, folders, fs: diskFileSystem });
    const { read, removed, problems } = refreshIndex(handle, { ...sources, fs: diskFileSystem });
    const index = new SqliteSkillIndex(handle.db);
    const wrong = [...sources.problems, ...problems].filter(({ level }) => level === "error").length;
    const text = `${index.size} ${index.size === 1 ? "skill" : "skills"}`;
    const errors = `${text}, up to date; ${wrong === 1 ? "1 error" : `${wrong} errors`} in their files`;
    const upToDate =
      wrong > 0 ? warn("index", errors, "`haversack skill check` lists them") : ok("index", `${text}, up to date`);
    const finding = read + removed > 0 ? staleIndex(paths, { text, read, removed }) : upToDate;
    return { findings: [finding, ...ignoredLinks(problems)], cards: index.listCards(), guards: guardCount(index) };
  } finally {
    handle.db.close();
  }
}

function staleIndex(
  paths: ProjectPaths,
  { text, read, removed }: { text: string; read: number; removed: number },
): Finding {
  if (distrust(paths))
    return warn("index", `${text}, not indexed: the store is not used`, "`haversack trust` shows it and asks");
  if (!existsSync(paths.store)) {
    const remedy = isSetUp(paths) ? MADE_BY_SESSION : "`haversack skill index` makes the store and indexes them";
    return warn("index", `${text}, not indexed yet`, remedy);
  }
  return warn(
    "index",
    `${text}; ${read} files are new or changed and ${removed} gone since it was made`,
    "`haversack skill index` brings it up to date; the next session start does too",
  );
}

/** Linked skills that cannot be found through their link. */
function ignoredLinks(problems: readonly Problem[]): Finding[] {
  const [first, ...others] = problems.filter(({ code }) => code.startsWith("link-"));
  if (!first) return [];
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const text = `${others.length + 1} ignored: ${first.file}: ${first.text}${more}`;
  return [warn("skill links", text, "`haversack skill check` lists them")];
}

const DAY_MS = 24 * 60 * 60 * 1000;

function checkLog({ log }: ProjectPaths, now: Date): Finding {
  const errors = readLog(log, { level: "error", since: new Date(now.getTime() - DAY_MS), limit: 1000 });
  const last = errors.at(-1);
  if (!last) return ok("log", "no errors in the last day");
  const text = `${errors.length} ${errors.length === 1 ? "error" : "errors"} in the last day; the last: ${last.part}: ${last.text.slice(0, 200)}`;
  return warn("log", text, "`haversack log --level error` shows all");
}

/** A folder with a copy of the store and the settings. The caller removes it. */
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
      const handle = openCopy({ root });
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

// Whether git refuses a repository because it belongs to another user, as in containers and on shared disks.

/** Undefined: git does not refuse, or there is no repository. The remedy is the one that git suggests. */
export function gitRefusal(root: string, env: Environment): { why: string; remedy: string } | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const { stderr } = spawnSync("git", ["-C", root, "rev-parse", "--git-dir"], {
    encoding: "utf8",
    timeout: 10_000,
    // The message is compared below, so it must be in English.
    env: { ...env, LC_ALL: "C" },
  });
  if (!stderr?.includes("dubious ownership")) return undefined;
  return {
    why: `git refuses to work in ${root}: it belongs to another user ("dubious ownership")`,
    remedy: `if you trust it: \`git config --global --add safe.directory '${root.replaceAll("'", "'\\''")}'\``,
  };
}
