import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { applyInit, planInit } from "../../engine/init.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { refreshIndex } from "../../engine/refresh-index.ts";
import { findSkillSources } from "../../engine/skill-sources.ts";
import { openMemoryStore } from "../../store/sqlite/memory.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skill-index.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { guardCount } from "../guards.ts";
import { findInstalled, isTemporary } from "../installed.ts";
import { type OpenProject, openProject } from "../project.ts";
import { openSkills } from "../skills.ts";
import {
  chosenClients,
  formatPlan,
  mayWrite,
  planData,
  receiptFolder,
  scopeOf,
  WIRING_OPTIONS,
  wiringPlace,
} from "../wiring.ts";

export const spec: CommandSpec = {
  about:
    "Wires the coding clients found here: hooks, the MCP server, the permission to call its tools, and the command /work with its agents. Shows every line first and asks. Whatever is in those files stays as it is; a second run repairs what moved. `haversack uninstall` takes exactly this out again.",
  options: WIRING_OPTIONS,
  examples: [
    { run: "haversack init", says: "this project, after a question" },
    { run: "haversack init --dry-run", says: "only show it" },
    { run: "haversack init --user --yes", says: "all your projects, without a question" },
  ],
  json: "{scope, clients: [{name, found: [text]}], changes: [{client, path, about, kind, lines}], written, skills, notes}: kind is make or change; written is false when nothing was to be done or nothing was allowed.",
};

export async function run(call: Call): Promise<ExitCode> {
  const project = openProject(call);
  const scope = scopeOf(call);
  const installed = findInstalled();
  const place = wiringPlace(call, guardCount(ruleIndex(call, project)) > 0);
  const chosen = chosenClients(call);
  const found = chosen.clients.map((client) => ({ client, evidence: client.find(place) }));
  const clients = found.filter(({ evidence }) => chosen.isForced || evidence.length > 0).map(({ client }) => client);
  if (clients.length === 0) {
    throw new HaversackError("not-found", "no coding client was found here", {
      hint: `looked for ${chosen.clients.map(({ title }) => title).join(", ")}; --client NAME wires one that is yet to come`,
    });
  }
  const planned = planInit(clients, place);
  const notes = clients.flatMap((client) => client.notes(place));
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
      if (evidence.length > 0) call.io.out(`Found ${client.title}: ${evidence.join(", ")}\n`);
    }
    if (planned.length > 0) call.io.out(`\n${formatPlan(call.io, planned)}\n\n`);
    for (const note of notes) call.io.err(`haversack: note: ${note}\n`);
  }
  if (call.options["dry-run"]) {
    print(call, report(false, undefined), () => (planned.length > 0 ? "Nothing was written (--dry-run)." : NOTHING));
    return 0;
  }
  if (planned.length > 0) {
    const answer = await mayWrite(
      call,
      `Write ${planned.length === 1 ? "this file" : `these ${planned.length} files`}?`,
    );
    if (answer !== "yes") {
      print(call, report(false, undefined), () => "");
      call.io.err(
        answer === "no"
          ? "haversack: nothing was written\n"
          : "haversack: nothing was written: there is no terminal to ask in; --yes writes what is shown\n",
      );
      return 1;
    }
    applyInit(planned, receiptFolder(scope, project.paths));
  }
  // A home or any other folder that is no project does not become one because all projects are wired.
  const isProject = scope === "project" || project.paths.because !== "working-folder";
  let skills: number | undefined;
  if (isProject) {
    ensureStateFolder(project.paths);
    skills = openSkills(call).index.size;
  }
  print(call, report(planned.length > 0, skills), () =>
    [
      planned.length > 0 ? "Done. It works in sessions that start from now on." : NOTHING,
      ...(skills === undefined
        ? []
        : [`${skills} ${skills === 1 ? "skill is" : "skills are"} indexed in ${project.paths.state}.`]),
      "`haversack doctor` checks it; `haversack uninstall` takes it out.",
    ].join("\n"),
  );
  return 0;
}

const NOTHING = "Nothing to do: everything is wired.";

/** The rules alone, without a store: a dry run writes nothing, and reading 300 skills would take two seconds more. */
function ruleIndex(call: Call, { paths, config }: OpenProject): SqliteSkillIndex {
  const handle = openMemoryStore();
  const { ruleFiles } = findSkillSources(paths.root, {
    env: call.io.env,
    folders: config["skills.folders"],
    fs: diskFileSystem,
  });
  refreshIndex(handle, { roots: [], ruleFiles, fs: diskFileSystem });
  return new SqliteSkillIndex(handle.db);
}
