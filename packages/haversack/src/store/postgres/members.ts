/**
 * Who may use a project on a shared server. Each member is a role of the server that can log in, and belongs to the project's group. Only
 * the group has rights, and only in the project's schema, so a member of one project cannot read another one. Roles belong to the whole
 * server: their names end with the store's id, so that projects of one name in two databases have different roles.
 */
import { randomBytes } from "node:crypto";
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
      if (await exists(db, role)) {
        throw new HaversackError("refused", `${name} is a member already`, {
          hint: `\`haversack store member rm ${name}\` removes the old one first`,
        });
      }
      if (!(await exists(db, group))) await db.exec(`CREATE ROLE ${quoted(group)} NOLOGIN`);
      await db.exec(grants(schema, quoted(group)));
      const expiry = until === undefined ? "" : ` VALID UNTIL '${until}'`;
      await db.exec(`CREATE ROLE ${quoted(role)} LOGIN PASSWORD '${password}'${expiry} IN ROLE ${quoted(group)}`);
      return { name, role, password, ...(until !== undefined && { expiresAt: until }) };
    },
    { notify: false },
  );
}

const DAY_MS = 86_400_000;

/** Rows only: members cannot change tables, nor make any. Also for tables that a later version adds. */
function grants(schema: string, group: string): string {
  const rows = "SELECT, INSERT, UPDATE, DELETE";
  return `GRANT USAGE ON SCHEMA ${schema} TO ${group};
    GRANT ${rows} ON ALL TABLES IN SCHEMA ${schema} TO ${group};
    GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${group};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${rows} ON TABLES TO ${group};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO ${group}`;
}

/** Ends its connections too. What it did stays; its tasks go back when their leases end. */
export async function removeMember(server: Server, name: string): Promise<Member> {
  const { group, role } = await rolesOf(server, name);
  await server.write(
    async (db) => {
      if (!(await exists(db, role))) {
        throw new HaversackError("not-found", `there is no member ${name}`, {
          hint: "`haversack store member list` shows them",
        });
      }
      // Takes effect in its open connections too.
      await db.exec(`ALTER ROLE ${quoted(role)} NOLOGIN; REVOKE ${quoted(group)} FROM ${quoted(role)}`);
    },
    { notify: false },
  );
  // A new connection is refused from now on.
  await server.write(
    async (db) => {
      // Only a member of the role may end its connections.
      await db.exec(`GRANT ${quoted(role)} TO CURRENT_USER`);
      await db.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role);
      await db.exec(`DROP ROLE ${quoted(role)}`);
    },
    { notify: false },
  );
  return { name, role };
}

/** By name. */
export async function listMembers(server: Server): Promise<Member[]> {
  const { group, ending } = await rolesOf(server, "any");
  const rows = await server.read((db) => db.query(MEMBERS, group));
  return rows.map(({ role, until }) => ({
    name: String(role).slice(0, -ending.length),
    role: String(role),
    ...(until !== null && { expiresAt: String(until) }),
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

async function exists(db: Connection, role: string): Promise<boolean> {
  return (await db.query("SELECT 1 FROM pg_roles WHERE rolname = $1", role)).length > 0;
}

function quoted(role: string): string {
  return `"${role.replaceAll('"', '""')}"`;
}
