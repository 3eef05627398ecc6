/**
 * Who may use a project on a shared server. Each member is a role of the server that can log in, and belongs to the project's group. Only
 * the group has rights, and only in the project's schema, so a member of one project cannot read another one. Roles belong to the whole
 * server: their names end with the store's id, so that projects of one name in two databases have different roles.
 *
 * test/postgres/members-attack.test.ts tries what a member could do to others.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HaversackError } from "../../base/errors.ts";
import type { Connection } from "./connection.ts";
import type { Server } from "./server.ts";

export interface Member {
  name: string;
  /** The user name on the server. */
  role: string;
  /** The password is refused after this time. */
  expiresAt?: string;
}

const NAME = /^[a-z][a-z0-9_-]{0,39}$/;

/** Returns the new password, which is stored nowhere else. */
export async function addMember(
  server: Server,
  { name, days }: { name: string; days?: number | undefined },
): Promise<Member & { password: string }> {
  const { group, role } = await rolesOf(server, name);
  const { schema } = server.place;
  const password = randomBytes(24).toString("base64url");
  const until = days === undefined ? undefined : new Date(Date.now() + days * DAY_MS).toISOString();
  return server.write(
    async (db) => {
      const before = await findRole(db, role);
      if (before?.isMember) {
        throw new HaversackError("refused", `${name} is a member already`, {
          hint: `\`haversack store member rm ${name}\` removes the old one first`,
        });
      }
      if (!(await findRole(db, group))) await db.exec(`CREATE ROLE ${quoted(group)} NOLOGIN`);
      await db.exec(grants(schema, quoted(group)));
      const expiry = ` VALID UNTIL '${until ?? "infinity"}'`;
      // A removed member's role stays if it owns something in another database.
      await db.exec(`${before ? "ALTER" : "CREATE"} ROLE ${quoted(role)} LOGIN PASSWORD '${password}' CONNECTION LIMIT ${MOST_CONNECTIONS}${expiry};
        GRANT ${quoted(group)} TO ${quoted(role)}`);
      return { name, role, password, ...(until !== undefined && { expiresAt: until }) };
    },
    { notify: false },
  );
}

const DAY_MS = 86_400_000;

/** So that one member cannot take all connections of the server: PostgreSQL has 100 by default. A process takes two or three. */
const MOST_CONNECTIONS = 40;

/** Rows only: members cannot change tables, nor make any. Also for tables that a later version adds. */
function grants(schema: string, group: string): string {
  const rows = "SELECT, INSERT, UPDATE, DELETE";
  return `GRANT USAGE ON SCHEMA ${schema} TO ${group};
    GRANT ${rows} ON ALL TABLES IN SCHEMA ${schema} TO ${group};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${rows} ON TABLES TO ${group}`;
}

/** Ends its connections too. What it did stays; its tasks go back when their leases end. */
export async function removeMember(server: Server, name: string): Promise<Member> {
  const { group, role } = await rolesOf(server, name);
  await server.write(
    async (db) => {
      if (!(await findRole(db, role))?.isMember) {
        throw new HaversackError("not-found", `there is no member "${name}"`, {
          hint: "`haversack store member list` shows them",
        });
      }
      // Takes effect in its open connections too.
      await db.exec(`ALTER ROLE ${quoted(role)} NOLOGIN; REVOKE ${quoted(group)} FROM ${quoted(role)}`);
    },
    { notify: false },
  );
  // A new connection is refused from now on. Open ones are ended, and what the member has made besides rows is removed.
  const isGone = async () => {
    // Only a member of the role may end its connections.
    await db.exec(`GRANT ${quoted(role)} TO CURRENT_USER`);
    const ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1";
    return (await db.query(ended, role)).length === 0;
  };
  const db = await server.connection();
  try {
    for (let waited = 0; !(await isGone()) && waited < END_MS; waited += 50) await sleep(50);
    await db.exec(`DROP OWNED BY ${quoted(role)}`);
    await db.exec(`DROP ROLE ${quoted(role)}`).catch((error: { code?: string }) => {
      // It owns something in another database. It cannot log in, and belongs to no group.
      if (error.code !== "2BP01") throw error;
    });
  } finally {
    await db.close();
  }
  return { name, role };
}

const END_MS = 5000;

/** By name. */
export async function listMembers(server: Server): Promise<Member[]> {
  const { group, ending } = await rolesOf(server, "any");
  const rows = await server.read((db) => db.query(MEMBERS, group));
  return rows.map(({ role, until }) => ({
    name: String(role).slice(0, -ending.length),
    role: String(role),
    ...(until !== null && until !== "infinity" && { expiresAt: String(until) }),
  }));
}

const MEMBERS = `SELECT m.rolname AS role, to_char(m.rolvaliduntil AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS until
FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
WHERE g.rolname = $1 AND m.rolcanlogin ORDER BY m.rolname COLLATE "C"`;

async function rolesOf(server: Server, name: string): Promise<{ group: string; role: string; ending: string }> {
  if (!NAME.test(name)) {
    throw new HaversackError(
      "input-invalid",
      `a member's name must be lower-case letters, digits, "_" and "-", but is ${JSON.stringify(name)}`,
    );
  }
  const ending = `_${(await server.storeId()).slice(0, 8)}`;
  return { group: `${server.place.schema}${ending}`, role: `${name}${ending}`, ending };
}

async function findRole(db: Connection, role: string): Promise<{ isMember: boolean } | undefined> {
  const [found] = await db.query("SELECT rolcanlogin AS may FROM pg_roles WHERE rolname = $1", role);
  return found && { isMember: found["may"] === "t" };
}

function quoted(role: string): string {
  return `"${role.replaceAll('"', '""')}"`;
}
