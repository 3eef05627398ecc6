import { existsSync, statSync } from "node:fs";
import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { gitRefusal } from "../../engine/git-refusal.ts";
import { applyInit, planInit } from "../../engine/init.ts";
import { lookIntoStore } from "../../engine/look-at-store.ts";
import { prepare } from "../../engine/open-project.ts";
import { ensureStateFolder, notAProject, type ProjectPaths } from "../../engine/project.ts";
import { refreshIndex } from "../../engine/refresh-index.ts";
import { findSkillSources } from "../../engine/skill-sources.ts";
import { acceptBrought, type BroughtAlong, broughtAlong, needsTrust, whyRefused } from "../../engine/trust-project.ts";
import type { WiringPlace } from "../../engine/wiring.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { formatBrought } from "../brought-along.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findInstalled, isTemporary } from "../installed.ts";
import { shortPath } from "../print-plan.ts";
import { findProject, type Project } from "../project.ts";
import { openSkills } from "../skills.ts";
import {
  chosenClients,
  guardCount,
  mayWrite,
  moreLines,
  planData,
  receiptFolder,
  scopeOf,
  showNotes,
  showPlan,
  WIRING_OPTIONS,
  wiringPlace,
} from "../wiring.ts";

export const spec: CommandSpec = {
  about:
    "Wires the coding clients found here: hooks, the MCP server, the permission to call its tools, and the command /work with its agents. Shows every file first and asks. Whatever is in those files stays as it is; a second run repairs what moved. `haversack uninstall` takes exactly this out again.",
  options: {
    ...WIRING_OPTIONS,
    hooks: {
      type: "string",
      value: "WAY",
      choices: ["command", "server"],
      about:
        "How events reach Haversack: server asks the MCP server that is already running, about ten times faster; command starts a process for each event. Default: server where the installed client supports it (Claude Code 2.1.120, Codex 0.166 and later), else command.",
    },
    bare: { type: "boolean", about: "Wire nothing: only make .haversack/ here, for the commands alone." },
  },
  examples: [
    { run: "haversack init", says: "this project, after a question" },
    { run: "haversack init --dry-run --diff", says: "only show it, every line" },
    { run: "haversack init --user --yes", says: "all your projects, without a question" },
    { run: "haversack init --hooks command", says: "a process for each event" },
    { run: "haversack init --bare", says: "a project without a client, also outside of git" },
  ],
  json: "{scope, clients: [{name, found: [text]}], changes: [{clients, path, about, kind, lines}], written, skills, notes}: kind is make or change; written is false when nothing was to be done or nothing was allowed.",
};

export async function run(call: Call): Promise<ExitCode> {
  const project = findProject(call);
  const scope = scopeOf(call);
  if (scope === "project") refuseHome(project.paths);
  const brought = broughtAlong(project.paths, call.io.env);
  const isBrought = scope === "project" && needsTrust(brought);
  if (isBrought && !call.json) {
    call.io.out(
      `This repository brings what Haversack does not use until you accept it:\n${formatBrought(brought, { look: whyRefused(brought) ? undefined : lookIntoStore(project.paths) })}\n\n`,
    );
  }
  if (call.options["bare"]) return makeBare(call, project, isBrought ? brought : undefined);
  const installed = findInstalled();
  const hasGuards = guardCount(ruleIndex(call, project)) > 0;
  const way = call.options["hooks"] as WiringPlace["hooks"];
  const place: WiringPlace = { ...wiringPlace(call, hasGuards), ...(way && { hooks: way }) };
  const chosen = chosenClients(call);
  const found = chosen.clients.map((client) => ({ client, evidence: client.find(place) }));
  const clients = found.filter(({ evidence }) => chosen.isForced || evidence.length > 0).map(({ client }) => client);
  if (clients.length === 0) {
    throw new HaversackError("not-found", "no coding client was found here", {
      hint: `looked for ${chosen.clients.map(({ title }) => title).join(", ")}; --client NAME wires one that is yet to come, --bare makes a project without one`,
    });
  }
  const blocked = clients.flatMap((client) => {
    const found = client.blocked?.(place);
    return found ? [{ title: client.title, ...found }] : [];
  });
  const [first] = blocked;
  if (first && chosen.isForced && blocked.length === clients.length) {
    throw new HaversackError("input-invalid", `${first.title} cannot be wired here: ${first.why}`, {
      hint: first.instead,
    });
  }
  const planned = planInit(clients, place);
  const notes = clients.flatMap((client) => client.notes(place));
  notes.push(...blocked.map(({ title, why, instead }) => `${title} is not wired: ${why}. ${instead}`));
  const refusal = scope === "project" && gitRefusal(project.paths.root, call.io.env);
  if (refusal) notes.push(`${refusal.why}. ${refusal.remedy}`);
  if (isTemporary(installed)) {
    notes.push(
      `${installed.bin} is in a cache that is emptied by itself: install haversack for good, then run init from there`,
    );
  }
  const report = (written: boolean, skills: number | undefined) => ({
    scope,
    clients: found.map(({ client, evidence }) => ({ name: client.name, found: evidence })),
    changes: planData(planned),
    written,
    ...(skills !== undefined && { skills }),
    notes,
  });

  if (!call.json) {
    for (const { client, evidence } of found) {
      if (evidence.length > 0) call.io.out(`Found ${client.title}: ${shortPath(evidence.join(", "))}\n`);
    }
    if (planned.length > 0) {
      const whom = scope === "user" ? "all your projects" : shortPath(project.paths.root);
      call.io.out(`\nTo be written for ${whom}:\n`);
      showPlan(call, planned, project.paths.root);
    }
    showNotes(call.io, notes);
    if (notes.length > 0 && call.io.isTerminal) call.io.out("\n");
  }
  if (call.options["dry-run"]) {
    print(call, report(false, undefined), () =>
      planned.length > 0 ? `Nothing was written (--dry-run)${moreLines(call)}.` : nothingToDo(blocked),
    );
    return 0;
  }
  if (planned.length > 0 || isBrought) {
    const files = planned.length === 1 ? "this file" : `these ${planned.length} files`;
    const what = [
      ...(isBrought ? ["accept what the repository brings"] : []),
      ...(planned.length > 0 ? [`write ${files}`] : []),
    ];
    const answer = await mayWrite(call, `${capital(what.join(" and "))}?`, planned);
    if (answer !== "yes") {
      print(call, report(false, undefined), () => "");
      call.io.err(
        answer === "no"
          ? "haversack: nothing was written\n"
          : "haversack: nothing was written: there is no terminal to ask in; --yes writes what is shown\n",
      );
      return 1;
    }
    // A file in its place: noting what is written fails before anything is.
    const isPlace = statSync(project.paths.state, { throwIfNoEntry: false })?.isDirectory() ?? true;
    if (scope === "project" && isPlace) {
      ensureStateFolder(project.paths, { isAsked: true });
      if (isBrought) acceptBrought(project.paths, brought, { at: new Date() });
      // Recorded as the user's own before anything of ours is in it.
      prepare(project.paths);
    }
    if (planned.length > 0) applyInit(planned, receiptFolder(scope, project.paths));
  }
  // A home or any other folder that is no project does not become one because all projects are wired.
  const { because } = project.paths;
  const isProject = scope === "project" || (because !== "working-folder" && !notAProject(project.paths));
  let skills: number | undefined;
  if (isProject) {
    ensureStateFolder(project.paths, { isAsked: true });
    skills = openSkills(call, { store: "make" }).index.size;
  }
  print(call, report(planned.length > 0, skills), () =>
    [
      planned.length > 0 ? "Done. It works in sessions that start from now on." : nothingToDo(blocked),
      ...(skills === undefined
        ? []
        : [`${skills} ${skills === 1 ? "skill is" : "skills are"} indexed in ${project.paths.state}.`]),
      "`haversack doctor` checks it; `haversack uninstall` takes it out.",
    ].join("\n"),
  );
  return 0;
}

function makeBare(call: Call, { paths }: Project, brought: BroughtAlong | undefined): ExitCode {
  const other = Object.keys(call.options).find((name) => name !== "bare" && name !== "project" && name !== "yes");
  if (other) throw new HaversackError("usage", `--bare and --${other} exclude each other`);
  const isNew = !existsSync(paths.state);
  ensureStateFolder(paths, { isAsked: true });
  if (brought && !call.options["yes"]) {
    throw new HaversackError("refused", "nothing was accepted", {
      hint: "`haversack trust` asks; --yes accepts what is shown",
    });
  }
  if (brought) acceptBrought(paths, brought, { at: new Date() });
  const data = { scope: "project", clients: [], changes: [], written: isNew, notes: [] };
  print(call, data, () => (isNew ? `Made ${paths.state}.` : `${paths.state} is there already.`));
  return 0;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function nothingToDo(blocked: readonly { title: string }[]): string {
  if (blocked.length === 0) return "Nothing to do: everything is wired.";
  return `Nothing was written: ${blocked.map(({ title }) => title).join(", ")} cannot be wired for this project alone.`;
}

/** Also where `.haversack/` is there already. */
function refuseHome(paths: ProjectPaths): void {
  const { root, because, state } = paths;
  const special = notAProject(paths);
  if (!special) return;
  const why = because === "haversack-folder" ? ` (by ${state}, which may be there by mistake)` : "";
  throw new HaversackError("refused", `${root} is ${special}, not a project${why}`, {
    hint: "go to a project's folder; `haversack init --user` wires all your projects",
  });
}

/** The rules alone, without a store: a dry run writes nothing, and reading 300 skills would take two seconds more. */
function ruleIndex(call: Call, { paths, config }: Project): SqliteSkillIndex {
  const handle = openMemoryStore();
  const { ruleFiles, ruleTrust } = findSkillSources(paths.root, {
    env: call.io.env,
    folders: config["skills.folders"],
    fs: diskFileSystem,
  });
  refreshIndex(handle, { roots: [], ruleFiles, ruleTrust, fs: diskFileSystem });
  return new SqliteSkillIndex(handle.db);
}
