import { existsSync, statSync } from "node:fs";
import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { noteCheckout } from "../../engine/checkouts.ts";
import { gitRefusal } from "../../engine/doctor.ts";
import { applyInit, type BlockedClient, blockedClient, planInit } from "../../engine/init.ts";
import { prepare } from "../../engine/open-project.ts";
import { ensureStateFolder, notAProject, type ProjectPaths, usableConfig } from "../../engine/project.ts";
import { refreshIndex } from "../../engine/refresh-index.ts";
import {
  acceptBrought,
  type BroughtAlong,
  broughtAlong,
  lookIntoStore,
  partsToTrust,
  type TrustPart,
  whyRefused,
} from "../../engine/trust-project.ts";
import { checkoutOf } from "../../engine/wired-place.ts";
import type { Client, WiringPlace } from "../../engine/wiring.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { formatBrought } from "../brought-along.ts";
import { type Call, defineCommand, flag, type Output, option, say } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { shortPath } from "../print-plan.ts";
import { findProject, type Project, scopeOf, warnOnce } from "../project.ts";
import { openSkills, skillSources } from "../skills.ts";
import { counted } from "../terminal.ts";
import {
  chosenClients,
  describeCheckout,
  guardCount,
  moreLines,
  planData,
  receiptFolder,
  showNotes,
  showPlan,
  unconfirmed,
  WIRING_OPTIONS,
  wiringPlace,
} from "../wiring.ts";

export const command = defineCommand({
  about:
    "Connects Haversack to the coding clients found here: hooks, the MCP server, the permission to call its tools, and the command /work with its agents. Shows every file first and asks. Your own settings in those files stay; a second run repairs what is missing. `haversack uninstall` removes exactly this again.",
  options: {
    ...WIRING_OPTIONS,
    yes: flag(
      "Do not ask: write what is shown. This does not accept what a clone brought; `haversack trust` shows that and asks.",
    ),
    hooks: option(
      "WAY",
      "How events reach Haversack: server asks the MCP server that is already running, about ten times faster; command starts a process for each event. Default: server where the installed client supports it (Claude Code 2.1.120, Codex 0.166 and later), else command.",
      { choices: ["command", "server"] },
    ),
    bare: flag("Connect no client: only create .haversack/, for the commands."),
  },
  examples: {
    "haversack init": "this project, after a question",
    "haversack init --dry-run --diff": "only show it, every line",
    "haversack init --user --yes": "all your projects, without a question",
    "haversack init --hooks command": "a process for each event",
    "haversack init --bare": "a project without a client, also outside of git",
  },
  json: "{scope, clients: [{name, found: [text]}], changes: [{clients, path, about, kind, lines}], written, skills, accepted, unaccepted, notes}: kind is make or change; written is false when nothing was to be done or nothing was allowed; accepted and unaccepted list the parts that the repository brought (store, settings, templates, rules), and `haversack trust` asks about the latter; skills is absent while the store is not accepted.",
  async run(call) {
    const project = findProject(call);
    const scope = scopeOf(call);
    if (scope === "project") refuseHome(project.paths);
    const brought = broughtAlong(project.paths, call.io.env);
    const open = partsToTrust(brought);
    const isBrought = scope === "project" && open.length > 0;
    // A wrong setting that waits for acceptance is reported now too, before anything is written.
    if (isBrought) usableConfig(project.paths, (line) => warnOnce(call.io, line), { isAllAccepted: true });
    if (isBrought && !call.json) {
      const look = whyRefused(brought) ? undefined : lookIntoStore(project.paths);
      say(
        call.io,
        `This repository contains parts that Haversack uses only after you accept them:\n${formatBrought(brought, { look })}\n`,
      );
    }
    if (call.options.bare) return makeBare(call, project, brought);
    const installed = findInstalled();
    const hasGuards = guardCount(ruleIndex(call, project)) > 0;
    const way = call.options.hooks;
    const seesOutputs = project.config["outputs.replace_over"] > 0;
    const place: WiringPlace = { ...wiringPlace(call, { hasGuards, seesOutputs }), ...(way && { hooks: way }) };
    const chosen = chosenClients(call);
    const found = chosen.clients.map((client) => ({ client, evidence: client.find(place) }));
    const clients = found.filter(({ evidence }) => chosen.isForced || evidence.length > 0).map(({ client }) => client);
    if (clients.length === 0) {
      throw new HaversackError("not-found", "no coding client was found here", {
        hint: `looked for ${chosen.clients.map(({ title }) => title).join(", ")}; --client NAME connects one that you install later, --bare sets up a project without one`,
      });
    }
    const left = clients.flatMap((client) => blockedClient(client, place) ?? []);
    const blocked = left.filter(({ isElsewhere }) => !isElsewhere);
    const [first] = blocked;
    if (first && blocked.length === clients.length) {
      throw new HaversackError("refused", `${first.client.title} cannot be connected here: ${first.why}`, {
        hint: first.instead,
      });
    }
    const wired = clients.filter((client) => !left.some((one) => one.client === client));
    const planned = planInit(wired, place);
    const checkout = checkoutOf(call.io.cwd);
    const notes = wired.flatMap((client) => client.notes(place));
    notes.push(...blocked.map(({ client, why, instead }) => `${client.title} is not connected: ${why}. ${instead}`));
    const refusal = scope === "project" && gitRefusal(project.paths.root, call.io.env);
    if (refusal) notes.push(`${refusal.why}. ${refusal.remedy}`);
    // Such an installation disappears by itself.
    if (/[\\/]_npx[\\/]|[\\/]dlx-|[\\/]bunx-/.test(installed.bin)) {
      notes.push(
        `${installed.bin} is in a cache that is emptied by itself: install haversack for good, then run init from there`,
      );
    }
    const willAccept = isBrought && !call.options.yes;
    let accepted: readonly TrustPart[] = [];
    const unaccepted = () => open.filter((part) => !accepted.includes(part));
    const report = (written: boolean, skills: number | undefined) => ({
      scope,
      clients: found.map(({ client, evidence }) => ({ name: client.name, found: evidence })),
      changes: planData(planned),
      written,
      ...(skills !== undefined && { skills }),
      accepted,
      unaccepted: unaccepted(),
      notes,
    });

    if (!call.json) {
      for (const { client, evidence } of found) {
        if (evidence.length > 0) say(call.io, `Found ${client.title}: ${shortPath(evidence.join(", "))}`);
      }
      if (planned.length > 0) {
        const whom = scope === "user" ? "all your projects" : describeCheckout(checkout);
        say(call.io, `\nTo be written for ${whom}:`);
        showPlan(call, planned, checkout.here);
      }
      showNotes(call.io, notes);
      if (notes.length > 0 && call.io.isTerminal) call.io.out("\n");
    }
    if (call.options["dry-run"]) {
      const none = `Nothing was written (--dry-run)${moreLines(call)}.`;
      return { data: report(false, undefined), text: planned.length > 0 ? none : nothingToDo(blocked) };
    }
    if (planned.length > 0 || willAccept) {
      const files = planned.length === 1 ? "this file" : `these ${planned.length} files`;
      const what = [willAccept && "accept what the repository brings", planned.length > 0 && `write ${files}`];
      const asked = what.filter(Boolean).join(" and ");
      const question = `${asked[0]?.toUpperCase()}${asked.slice(1)}?`;
      const ask = { question, hint: "--yes writes what is shown", report: report(false, undefined) };
      const stopped = await unconfirmed(call, planned, ask);
      if (stopped) return stopped;
      const refused = isBrought && whyRefused(brought, willAccept ? open : []);
      if (refused) throw refused;
      // If a file is in its place, this fails before anything is written.
      const isPlace = statSync(project.paths.state, { throwIfNoEntry: false })?.isDirectory() ?? true;
      if (scope === "project" && isPlace) {
        ensureStateFolder(project.paths, { isAsked: true });
        if (willAccept) {
          acceptBrought(project.paths, brought, { at: new Date() });
          accepted = open;
        }
        // Record it as the user's own before we write anything into it.
        if (!unaccepted().includes("store")) prepare(project.paths);
      }
      // Do this first: after a kill, no file may count for another checkout.
      if (scope === "project" && isPlace) noteCheckout(project.paths.state, call.io.cwd);
      if (planned.length > 0) applyInit(planned, receiptFolder(scope, project.paths));
    } else if (scope === "project" && !unaccepted().includes("store") && existsSync(project.paths.state)) {
      noteCheckout(project.paths.state, call.io.cwd);
    }
    // Wiring all projects must not turn the home folder, or another folder that is no project, into one.
    const { because } = project.paths;
    const isProject = scope === "project" || (because !== "working-folder" && !notAProject(project.paths));
    let skills: number | undefined;
    if (isProject && !unaccepted().includes("store")) {
      ensureStateFolder(project.paths, { isAsked: true });
      skills = openSkills(call, { store: "make" }).index.size;
    }
    const connected = clients.filter((client) => !blocked.some((one) => one.client === client));
    const lines = [
      planned.length > 0 ? "Done." : nothingToDo(blocked),
      ...(skills === undefined ? [] : [`${counted(skills, "skill is", "skills are")} indexed.`]),
      ...consentLines(accepted, unaccepted()),
      ...nextSteps(connected, skills),
      `\`haversack doctor\` checks everything; \`haversack uninstall${scope === "user" ? " --user" : ""}\` removes it again.`,
    ];
    return { data: report(planned.length > 0, skills), text: lines.join("\n") };
  },
});

/** What happens at the next prompt, and how to see it. */
function nextSteps(clients: readonly Client[], skills: number | undefined): string[] {
  const titles = clients.map(({ title }) => title);
  const names = [titles.slice(0, -1).join(", "), ...titles.slice(-1)].filter(Boolean).join(" or ");
  return [
    skills === 0
      ? `Start a new ${names} session: Haversack keeps track of its work. It recommends skills once there are some (\`haversack skill new NAME\`).`
      : `Start a new ${names} session and type a prompt: if a skill fits, Haversack recommends it to the model; if none fits, it adds nothing.`,
    "`haversack why` then shows what was added, and why.",
  ];
}

const HOW_TO_ACCEPT = "`haversack trust` shows what the repository brought, and asks.";

/** Which parts that came with the repository were accepted, and which were not. */
function consentLines(accepted: readonly TrustPart[], unaccepted: readonly TrustPart[]): string[] {
  return [
    ...(accepted.length > 0 ? [`Accepted what the clone brought: ${accepted.join(", ")}.`] : []),
    ...(unaccepted.length > 0 ? [`Not accepted, so not used: ${unaccepted.join(", ")}. ${HOW_TO_ACCEPT}`] : []),
  ];
}

/** Asks nothing, so it accepts nothing. */
function makeBare(call: Pick<Call, "options">, { paths }: Project, brought: BroughtAlong): Output {
  const other = Object.keys(call.options).find((name) => name !== "bare" && name !== "project" && name !== "yes");
  if (other) throw new HaversackError("usage", `--bare and --${other} cannot be used together`);
  const isNew = !existsSync(paths.state);
  ensureStateFolder(paths, { isAsked: true });
  const unaccepted = partsToTrust(brought);
  const data = { scope: "project", clients: [], changes: [], written: isNew, accepted: [], unaccepted, notes: [] };
  const head = isNew ? `Made ${paths.state}.` : `${paths.state} already exists.`;
  return { data, text: [head, ...consentLines([], unaccepted)].join("\n") };
}

function nothingToDo(blocked: readonly BlockedClient[]): string {
  if (blocked.length === 0) return "Nothing to do: everything is connected.";
  return `Nothing was written: ${blocked.map(({ client }) => client.title).join(", ")} cannot be connected for this project alone.`;
}

/** Also where `.haversack/` already exists. */
function refuseHome(paths: ProjectPaths): void {
  const { root, because, state } = paths;
  const special = notAProject(paths);
  if (!special) return;
  const why = because === "haversack-folder" ? ` (by ${state}, which may be there by mistake)` : "";
  throw new HaversackError("refused", `${root} is ${special}, not a project${why}`, {
    hint: "go to a project's folder; `haversack init --user` connects all your projects",
  });
}

/** Reads only the rules, without a store: a dry run writes nothing, and reading 300 skills would take two more seconds. */
function ruleIndex(call: Pick<Call, "io">, project: Project): SqliteSkillIndex {
  const handle = openMemoryStore();
  const { ruleFiles, ruleTrust } = skillSources(call, project);
  refreshIndex(handle, { roots: [], ruleFiles, ruleTrust, fs: diskFileSystem });
  return new SqliteSkillIndex(handle.db);
}
