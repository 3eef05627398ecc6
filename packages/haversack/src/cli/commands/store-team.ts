/** The store that a team shares: where it is, how work gets there and back, and who may use it. */
import { HaversackError } from "../../base/errors.ts";
import type { OpenProject } from "../../engine/open-project.ts";
import {
  migrateToLocal,
  migrateToShared,
  type SharedStatus,
  sharedStatus,
  useLocal,
  useShared,
  withMembers,
} from "../../engine/team/share-store.ts";
import { describeTeam, type TeamState, teamState, viewTeam } from "../../engine/team/team-state.ts";
import { STORE_VARIABLE } from "../../engine/work-of.ts";
import { addressFor } from "../../store/postgres/place.ts";
import { SCHEMA_VERSION } from "../../store/sqlite/schema-version.ts";
import { type Call, type Command, type ExitCode, option, print, sayNote, sayWarning } from "../command.ts";
import { columns } from "../help.ts";
import { findProject, openProject } from "../project.ts";

const LOCAL = "local";
const ADDRESS = {
  name: "URL|local",
  about: "the database as psql takes it, without a password; ?project=NAME for one of several projects",
};

function open(call: Call): OpenProject {
  return openProject(call, { access: "save", durability: "full" });
}

const storeUse: Command = {
  spec: {
    about:
      "Uses a store that a team shares for the work of this project, from now on and for you alone: the address is kept in your own state folder, never in the repository. Give the password in PGPASSWORD or ~/.pgpass. `local` goes back to the store on this machine, with the work as it is now.",
    arguments: [{ ...ADDRESS, required: true }],
    examples: [
      { run: "haversack store use postgres://ann@db.example.com/team?project=shop", says: "joins the team's queue" },
      { run: "haversack store use local", says: "leaves it; the work stays on both sides" },
    ],
    json: "{driver: postgresql|sqlite, address?, project?, server_version?, left?}.",
  },
  async run(call): Promise<ExitCode> {
    const [url = ""] = call.arguments;
    const project = open(call);
    if (url === LOCAL) {
      const { left, isUpToDate, unsent } = await useLocal(project);
      if (!isUpToDate) sayWarning(call.io, `${left} cannot be reached, so the work is as this machine last saw it`);
      if (unsent > 0) sayWarning(call.io, `${unsent} changes of this machine were not sent to it`);
      print(call, { driver: "sqlite", ...(left !== undefined && { left }) }, () =>
        left === undefined
          ? "The work of this project is in the local store."
          : `The work of this project is in the local store now. ${left} stays as it is.`,
      );
      return 0;
    }
    const { place, facts } = await useShared(project, url);
    warnOfClock(call, facts.clockOffsetMs);
    print(
      call,
      { driver: "postgresql", address: place.shown, project: place.project, serverVersion: facts.serverVersion },
      () => `The work of this project is now at ${place.shown} (PostgreSQL ${facts.serverVersion}).`,
    );
    return 0;
  },
};

const storeMigrate: Command = {
  spec: {
    about:
      "Copies all work of this project to an empty project on a PostgreSQL server, or back into the local store, and uses it there from then on. IDs, history and archive stay as they are; the source is not changed.",
    arguments: [{ ...ADDRESS, about: `${ADDRESS.about}; default: ${STORE_VARIABLE}` }],
    examples: [
      { run: "haversack store migrate postgres://ann@db.example.com/team?project=shop", says: "to the server" },
      { run: "haversack store migrate local", says: "and back" },
    ],
    json: "{driver: postgresql|sqlite, address, rows: {table: count}}.",
  },
  async run(call): Promise<ExitCode> {
    const [url] = call.arguments;
    const project = open(call);
    const isBack = url === LOCAL;
    const { place, rows } = isBack ? await migrateToLocal(project) : await migrateToShared(project, url);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    print(call, { driver: isBack ? "sqlite" : "postgresql", address: place.shown, rows }, () =>
      isBack
        ? `Copied ${total} rows from ${place.shown} into the local store, which is used from now on.`
        : `Copied ${total} rows to ${place.shown}, which is used from now on.`,
    );
    return 0;
  },
};

const storeStatus: Command = {
  spec: {
    about:
      "Shows where the work of this project is: in the local store, or at which server, how it answers, and what this machine has still to send.",
    examples: [{ run: "haversack store status", says: "exit 3 when the server cannot be reached" }],
    json: "{driver: postgresql|sqlite, file, schema_version, address?, project?, from?: environment|record, user?, server_version?, latency_ms?, clock_offset_ms?, read_only?, snapshot_at?, offline_since?, waiting?, waiting_since?, conflicts?, problem?}.",
  },
  async run(call): Promise<ExitCode> {
    const project = openProject(call, { access: "look" });
    const { paths } = project;
    const status = await sharedStatus(project);
    const team = project.isMemory ? undefined : teamState(project.handle);
    const local = { driver: "sqlite", file: paths.store, schemaVersion: SCHEMA_VERSION };
    if (!status) {
      print(call, local, () => `The work of this project is in the local store, ${paths.store}.`);
      return 0;
    }
    const { place, from, facts, problem } = status;
    print(
      call,
      {
        ...(team && viewTeam(team)),
        ...{ driver: "postgresql", file: paths.store, address: place.shown, project: place.project, from },
        ...(facts && {
          ...{ user: facts.user, serverVersion: facts.serverVersion, schemaVersion: facts.schemaVersion },
          latencyMs: Math.round(facts.latencyMs * 10) / 10,
          clockOffsetMs: Math.round(facts.clockOffsetMs),
          ...(facts.isReplica && { readOnly: true }),
        }),
        ...(problem && { problem: problem.message }),
      },
      () => describe(status, team),
    );
    if (facts) warnOfClock(call, facts.clockOffsetMs);
    if (problem) throw problem;
    return 0;
  },
};

function describe({ place, from, facts }: SharedStatus, team: TeamState | undefined): string {
  const rows: [string, string][] = [
    ["address", place.shown],
    ["project", place.project],
    ["set by", from === "environment" ? STORE_VARIABLE : "`haversack store use`"],
  ];
  if (facts) {
    rows.push(
      ["server", `PostgreSQL ${facts.serverVersion}${facts.isReplica ? ", a replica that can only be read" : ""}`],
      ["user", facts.user],
      ["answers in", `${facts.latencyMs.toFixed(1)} ms`],
      ["schema", `${facts.schemaVersion} (this program knows ${facts.knownVersion})`],
    );
  }
  if (team) rows.push(["this machine", describeTeam(team, new Date())]);
  return `The work of this project is on a server:\n${columns(rows)}`;
}

/** With a larger difference, the ages shown to people are wrong. */
const CLOCK_MS = 60_000;

function warnOfClock({ io }: Call, offsetMs: number): void {
  if (Math.abs(offsetMs) < CLOCK_MS) return;
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const which = offsetMs > 0 ? "ahead of" : "behind";
  sayWarning(io, `this machine's clock is ${minutes} minutes ${which} the server's; leases follow the server's`);
}

const ACTIONS = ["add", "rm", "list"];

const storeMember: Command = {
  spec: {
    about:
      "Adds a member to the shared store of this project, removes one, or lists them. A member has a user of its own on the server, with rights in this project's schema and nowhere else; so has an agent that you give one. What `add` prints is all that the new member needs: its password is shown once and stored nowhere. Needs a user who may create roles.",
    arguments: [
      { name: "add|rm|list", about: "what to do", required: true, choices: ACTIONS },
      { name: "NAME", about: "the member's name, such as ann or build-agent" },
    ],
    options: {
      days: option("N", "With add: the password works for N days (default: until the member is removed).", {
        type: "integer",
        minimum: 1,
        maximum: 36_500,
      }),
    },
    examples: [
      { run: "haversack store member add ann", says: "prints the command that ann runs in her clone" },
      { run: "haversack store member add build-agent --days 30", says: "for an agent on a build server" },
      { run: "haversack store member rm ann", says: "her connections end at once" },
    ],
    json: "add: {name, user, password, address, expires_at?}; rm: {name, user}; list: [{name, user, expires_at?}].",
  },
  async run(call): Promise<ExitCode> {
    const [action = "", name] = call.arguments;
    if (!ACTIONS.includes(action))
      throw new HaversackError("usage", `store member takes ${ACTIONS.join(", ")}, not ${action}`);
    if (action !== "list" && !name) throw new HaversackError("usage", `store member ${action} needs a name`);
    const { paths, env } = findProject(call);
    return withMembers({ paths, env }, async (members, server): Promise<ExitCode> => {
      if (action === "list") {
        const list = await members.listMembers(server);
        const views = list.map(({ name, role, expiresAt }) => ({ name, user: role, ...(expiresAt && { expiresAt }) }));
        print(call, views, () =>
          list.length === 0
            ? "No members yet; `haversack store member add NAME` adds one."
            : columns(
                list.map(({ name, role, expiresAt }) => [name, `${role}${expiresAt ? `, until ${expiresAt}` : ""}`]),
              ),
        );
        return 0;
      }
      if (action === "rm") {
        const { role } = await members.removeMember(server, name!);
        print(call, { name, user: role }, () => `${name} may no longer use ${server.place.shown}.`);
        return 0;
      }
      const days = call.options["days"] as number | undefined;
      const { role, password, expiresAt } = await members.addMember(server, { name: name!, days });
      const address = addressFor(server.place, role);
      const view = { name, user: role, password, address, ...(expiresAt && { expiresAt }) };
      print(call, view, () => invitation({ name: name!, role, password, address, expiresAt }, server.place.server));
      if (!call.json) sayNote(call.io, "the password is stored nowhere else: send it in private");
      return 0;
    });
  },
};

interface Invited {
  name: string;
  role: string;
  password: string;
  address: string;
  expiresAt: string | undefined;
}

function invitation(
  { name, role, password, address, expiresAt }: Invited,
  { host = "localhost", port = 5432, database = "" }: { host?: string; port?: number; database?: string },
): string {
  // As libpq writes it: ":" and "\" are escaped, and a socket is called localhost.
  const field = (text: string) => text.replace(/[\\:]/g, "\\$&");
  const line = [host.startsWith("/") ? "localhost" : host, String(port), database, role, password].map(field).join(":");
  const whole = host.startsWith("/")
    ? `${address}&password=${password}`
    : address.replace(`${encodeURIComponent(role)}@`, `${encodeURIComponent(role)}:${password}@`);
  return [
    `${name} may now use this project${expiresAt ? ` until ${expiresAt}` : ""}. In a clone of the repository, run:`,
    "",
    `  umask 077; echo '${line}' >> ~/.pgpass && haversack store use '${address}'`,
    "",
    "An agent or a build server takes it from its environment instead:",
    "",
    `  ${STORE_VARIABLE}='${whole}'`,
  ].join("\n");
}

export const commands: Readonly<Record<string, Command>> = {
  "store use": storeUse,
  "store migrate": storeMigrate,
  "store status": storeStatus,
  "store member": storeMember,
};
