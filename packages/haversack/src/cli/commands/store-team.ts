/** The store that a team shares: where it is, how work gets there and back, who may use it, and what it refused. */
import { cleanLine } from "../../base/clean-text.ts";
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
import { listConflicts, settleConflicts } from "../../store/sqlite/outbox/outbox.ts";
import { SCHEMA_VERSION } from "../../store/sqlite/schema-version.ts";
import { type Call, defineCommand, flag, type Output, print, sayWarning, wholeNumber } from "../command.ts";
import { columns } from "../help.ts";
import { block, formatAgo } from "../print-work.ts";
import { findProject, openProject } from "../project.ts";
import { counted } from "../terminal.ts";

const LOCAL = "local";
const ADDRESS = {
  name: "URL|local",
  about: "the database as psql takes it, without a password; ?project=NAME for one of several projects",
};

function open(call: Pick<Call, "io">): OpenProject {
  return openProject(call, { access: "save", durability: "full" });
}

const ACTIONS = ["add", "rm", "list"];

const MOST_CONFLICTS = 1000;

export const commands = {
  "store use": defineCommand({
    about:
      "Uses a store that a team shares for the work of this project, from now on and for you alone: the address is kept in your own state folder, never in the repository. Give the password in PGPASSWORD or ~/.pgpass. `local` goes back to the store on this machine, with the work as it is now.",
    arguments: [{ ...ADDRESS, required: true }],
    examples: {
      "haversack store use postgres://ann@db.example.com/team?project=shop": "joins the team's queue",
      "haversack store use local": "leaves it; the work stays on both sides",
    },
    json: "{driver: postgresql|sqlite, address?, project?, server_version?, left?}.",
    async run(call) {
      const [url = ""] = call.arguments;
      const project = open(call);
      if (url === LOCAL) {
        const { left, isUpToDate, unsent } = await useLocal(project);
        if (!isUpToDate) sayWarning(call.io, `${left} cannot be reached, so the work is as this machine last saw it`);
        if (unsent > 0) sayWarning(call.io, `${unsent} changes of this machine were not sent to it`);
        const where = "The work of this project is in the local store";
        const text = left === undefined ? `${where}.` : `${where} now. ${left} stays as it is.`;
        return { data: { driver: "sqlite", ...(left !== undefined && { left }) }, text };
      }
      const { place, facts } = await useShared(project, url);
      warnOfClock(call, facts.clockOffsetMs);
      const { shown: address, project: name } = place;
      const { serverVersion } = facts;
      const text = `The work of this project is now at ${address} (PostgreSQL ${serverVersion}).`;
      return { data: { driver: "postgresql", address, project: name, serverVersion }, text };
    },
  }),
  "store migrate": defineCommand({
    about:
      "Copies all work of this project to an empty project on a PostgreSQL server, or back into the local store, and uses it there from then on. IDs, history and archive stay as they are; the source is not changed.",
    arguments: [{ ...ADDRESS, about: `${ADDRESS.about}; default: ${STORE_VARIABLE}` }],
    examples: {
      "haversack store migrate postgres://ann@db.example.com/team?project=shop": "to the server",
      "haversack store migrate local": "and back",
    },
    json: "{driver: postgresql|sqlite, address, rows: {table: count}}.",
    async run(call) {
      const [url] = call.arguments;
      const project = open(call);
      const isBack = url === LOCAL;
      const { place, rows } = isBack ? await migrateToLocal(project) : await migrateToShared(project, url);
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
      const way = isBack ? `from ${place.shown} into the local store` : `to ${place.shown}`;
      const text = `Copied ${total} rows ${way}, which is used from now on.`;
      return { data: { driver: isBack ? "sqlite" : "postgresql", address: place.shown, rows }, text };
    },
  }),
  "store status": defineCommand({
    about:
      "Shows where the work of this project is: in the local store, or at which server, how it answers, and what this machine has still to send.",
    examples: { "haversack store status": "exit 3 when the server cannot be reached" },
    json: "{driver: postgresql|sqlite, file, schema_version, address?, project?, from?: environment|record, user?, server_version?, latency_ms?, clock_offset_ms?, read_only?, snapshot_at?, offline_since?, waiting?, waiting_since?, conflicts?, problem?}.",
    async run(call) {
      const project = openProject(call, { access: "look" });
      const { paths } = project;
      const status = await sharedStatus(project);
      const known = project.isMemory ? undefined : teamState(project.handle);
      const local = { driver: "sqlite", file: paths.store, schemaVersion: SCHEMA_VERSION };
      if (!status) return { data: local, text: `The work of this project is in the local store, ${paths.store}.` };
      const { place, from, facts, problem } = status;
      const team = known?.isOf(place.key) ? known : undefined;
      const data = {
        ...(team && viewTeam(team)),
        ...{ driver: "postgresql", file: paths.store, address: place.shown, project: place.project, from },
        ...(facts && {
          ...{ user: facts.user, serverVersion: facts.serverVersion, schemaVersion: facts.schemaVersion },
          latencyMs: Math.round(facts.latencyMs * 10) / 10,
          clockOffsetMs: Math.round(facts.clockOffsetMs),
          ...(facts.isReplica && { readOnly: true }),
        }),
        ...(problem && { problem: problem.message }),
      };
      await print(call, { data, text: describe(status, team) });
      if (facts) warnOfClock(call, facts.clockOffsetMs);
      if (problem) throw problem;
      return 0;
    },
  }),
  "store member": defineCommand({
    about:
      "Adds a member to the shared store of this project, removes one, or lists them. A member has a user of its own on the server, with rights in this project's schema and nowhere else; so has an agent that you give one. What `add` prints is all that the new member needs: its password is shown once and stored nowhere. Needs a user who may create roles.",
    arguments: [
      { name: "add|rm|list", about: "what to do", required: true, choices: ACTIONS },
      { name: "NAME", about: "the member's name, such as ann or build-agent" },
    ],
    options: {
      days: wholeNumber("N", "With add: the password works for N days (default: until the member is removed).", {
        maximum: 36_500,
      }),
    },
    examples: {
      "haversack store member add ann": "prints the command that ann runs in her clone",
      "haversack store member add build-agent --days 30": "for an agent on a build server",
      "haversack store member rm ann": "her connections end at once",
    },
    json: "add: {name, user, password, address, expires_at?}; rm: {name, user}; list: [{name, user, expires_at?}].",
    async run(call) {
      const [action = "", name] = call.arguments;
      if (!ACTIONS.includes(action))
        throw new HaversackError("usage", `store member takes ${ACTIONS.join(", ")}, not ${action}`);
      if (action !== "list" && !name) throw new HaversackError("usage", `store member ${action} needs a name`);
      const { paths, env } = findProject(call);
      return withMembers({ paths, env }, async (members, server): Promise<Output> => {
        if (action === "list") {
          const list = await members.listMembers(server);
          const data = list.map(({ name, role: user, expiresAt }) => ({ name, user, ...(expiresAt && { expiresAt }) }));
          const rows = list.map(
            ({ name, role, expiresAt }) => [name, `${role}${expiresAt ? `, until ${expiresAt}` : ""}`] as const,
          );
          const none = "No members yet; `haversack store member add NAME` adds one.";
          return { data, text: rows.length > 0 ? columns(rows) : none };
        }
        if (action === "rm") {
          const { role } = await members.removeMember(server, name!);
          return { data: { name, user: role }, text: `${name} may no longer use ${server.place.shown}.` };
        }
        const { role, password, expiresAt } = await members.addMember(server, { name: name!, days: call.options.days });
        const address = addressFor(server.place, role);
        return {
          data: { name, user: role, password, address, ...(expiresAt && { expiresAt }) },
          text: invitation({ name: name!, role, password, address, expiresAt }, server.place.server),
          notes: call.json ? [] : ["the password is stored nowhere else: send it in private"],
        };
      });
    },
  }),
  "store conflicts": defineCommand({
    about:
      "Lists changes of this machine that the shared store refused, such as reports on a task that somebody else had claimed meanwhile. Nothing is lost: each is shown with its content until you settle it.",
    arguments: [{ name: "NUMBER", about: "only these", many: true }],
    options: { settle: flag("Remove them from the list: you have dealt with them.") },
    examples: {
      "haversack store conflicts": "what was refused, and why",
      "haversack store conflicts 17 --settle": "one is dealt with",
    },
    json: "[{number, operation, task_id?, agent?, at, reason, found_at, content}]; with --settle {settled: count}.",
    async run(call) {
      const numbers = call.arguments.map((word) => {
        const number = Number(word);
        if (Number.isSafeInteger(number) && number > 0) return number;
        throw new HaversackError("usage", `NUMBER must be a number of the list, but is ${JSON.stringify(word)}`);
      });
      const isSettled = call.options["settle"] === true;
      const { handle } = openProject(call, isSettled ? { access: "save", durability: "full" } : { access: "look" });
      if (isSettled) {
        const settled = settleConflicts(handle, numbers.length > 0 ? numbers : undefined);
        return { data: { settled }, text: `${counted(settled, "conflict")} removed from the list.` };
      }
      const isNamed = (number: number) => numbers.length === 0 || numbers.includes(number);
      const found = listConflicts(handle, { limit: MOST_CONFLICTS }).filter(({ number }) => isNamed(number));
      const data = found.map(({ number, op: operation, args, at, taskId, agent, reason, foundAt }) => ({
        ...{ number, operation, taskId, agent, at, reason, foundAt, content: JSON.parse(args) },
      }));
      const now = new Date();
      const lines = found.map(({ number, op, args, at, agent, reason }) => {
        const who = agent === undefined ? "" : ` by ${cleanLine(agent)}`;
        const head = `${number}  ${op === "tool" ? "tool call" : wordsOf(op)}${who}, ${formatAgo(at, now)}: ${cleanLine(reason)}`;
        const content = cleanLine(inWords(JSON.parse(args)).join("; "), { maxChars: 500 });
        return content ? `${head}\n${block(content)}` : head;
      });
      return { data, text: lines.join("\n") || "No conflicts." };
    },
  }),
};

/** `updateWip`, `lease_ms`: in words. */
function wordsOf(name: string): string {
  return cleanLine(name)
    .replace(/[a-z](?=[A-Z])/g, "$& ")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase();
}

/** What the head of a conflict says already, and what only the server needs. `--json` has it all. */
const NOT_IN_WORDS = new Set(["name", "by", "at", "leaseMs", "sessionId", "agentId", "holder", "client"]);

/** The content of a refused change, for a person: `task id: T4829; phase: testing`. */
function inWords(value: unknown, key = ""): string[] {
  if (Array.isArray(value)) {
    const isFlat = value.every((one) => typeof one !== "object" || one === null);
    if (!isFlat) return value.flatMap((one) => inWords(one, key));
    return value.length > 0 ? [labelled(key, value.map(String).join(", "))] : [];
  }
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, one]) =>
      key === "" && NOT_IN_WORDS.has(name) ? [] : inWords(one, name),
    );
  return value === null || value === undefined || value === "" ? [] : [labelled(key, String(value))];
}

function labelled(key: string, text: string): string {
  return key === "" || key === "args" ? text : `${wordsOf(key)}: ${text}`;
}

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

function warnOfClock({ io }: Pick<Call, "io">, offsetMs: number): void {
  if (Math.abs(offsetMs) < CLOCK_MS) return;
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const which = offsetMs > 0 ? "ahead of" : "behind";
  sayWarning(io, `this machine's clock is ${minutes} minutes ${which} the server's; leases follow the server's`);
}

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
