/** What a member of one project can do to another one, to the server and to itself after its removal, with SQL of its own. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Connection, connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { addMember, removeMember } from "../../packages/haversack/src/store/postgres/members.ts";
import { type Place, readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { PostgresWorkStore } from "../../packages/haversack/src/store/postgres/postgres-work-store.ts";
import { Server } from "../../packages/haversack/src/store/postgres/server.ts";
import { sharedServer } from "./server.ts";

const shared = await sharedServer(inject("postgresFolder"));

describe.skipIf(!shared)("a member of one project", () => {
  const closing: (() => Promise<unknown>)[] = [];
  const places: Place[] = [];
  const by = (name: string) => ({ name, isPerson: true, at: new Date() });
  let mine: Awaited<ReturnType<typeof project>>;
  let theirs: Awaited<ReturnType<typeof project>>;
  let eve: Connection;

  async function project(name: string) {
    const url = new URL(shared?.url ?? "");
    url.searchParams.set("project", `attack${process.pid}_${name}`);
    const place = readPlace(url.href, {});
    places.push(place);
    const server = new Server(place, { busyMs: 3000 });
    closing.push(() => server.close());
    const store = new PostgresWorkStore(server);
    await store.createTask({ title: `secret of ${name}` }, by("owner"));
    return { place, server, store, schema: place.schema };
  }

  async function login(place: Place, { role, password }: { role: string; password: string }): Promise<Connection> {
    const found = { ...place, server: { ...place.server, user: role, password } };
    const db = await connect(found, { timeoutMs: 5000 });
    await db.exec(`SET search_path TO ${place.schema}`);
    closing.push(() => db.close());
    return db;
  }

  const fails = async (sql: string) => {
    const error = await eve.exec(sql).then(
      () => undefined,
      (thrown: Error & { code: string }) => thrown,
    );
    expect(error, sql).toBeDefined();
    return String(error?.code);
  };

  beforeAll(async () => {
    mine = await project("mine");
    theirs = await project("theirs");
    await addMember(theirs.server, { name: "bob" });
    eve = await login(mine.place, await addMember(mine.server, { name: "eve" }));
  });

  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    const db = await connect(readPlace(shared?.url ?? "", {}), { timeoutMs: 5000 });
    for (const { schema } of places) {
      await db.exec(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      const roles = await db.query(
        "SELECT DISTINCT m.rolname AS role FROM pg_roles m WHERE m.rolname LIKE $1",
        `${schema}%`,
      );
      for (const { role } of roles) await db.exec(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
    }
    await db.close();
  });

  it("works in its own project", async () => {
    expect(await eve.exec("SELECT title FROM tasks")).toEqual([{ title: "secret of mine" }]);
  });

  it("can neither read nor change rows of another one, nor lock it", async () => {
    const { schema } = theirs;
    for (const sql of [
      `SELECT * FROM ${schema}.tasks`,
      `SELECT count(*) FROM ${schema}.operations`,
      `COPY ${schema}.tasks TO STDOUT`,
      `INSERT INTO ${schema}.meta VALUES ('min_reader', '999')`,
      `UPDATE ${schema}.tasks SET title = 'changed'`,
      `DELETE FROM ${schema}.claims`,
      `TRUNCATE ${schema}.tasks CASCADE`,
      `DO $$ BEGIN LOCK TABLE ${schema}.change_lock IN EXCLUSIVE MODE; END $$`,
      `DO $$ BEGIN LOCK TABLE ${schema}.tasks IN ACCESS SHARE MODE; END $$`,
      `SELECT ${schema}.mark_parent()`,
      `SELECT 1 FROM ${schema}.change_lock FOR SHARE`,
      `SELECT nextval('${schema}.tasks_seq_seq')`,
      `CREATE TRIGGER spy AFTER INSERT ON ${schema}.tasks EXECUTE FUNCTION ${mine.schema}.log_tasks()`,
      `CREATE TABLE ${schema}.mine ()`,
      `ALTER TABLE ${schema}.tasks DISABLE TRIGGER ALL`,
      `DROP SCHEMA ${schema} CASCADE`,
    ])
      expect(await fails(sql), sql).toBe("42501");
    // The server's statistics of their values.
    expect(await eve.exec(`SELECT * FROM pg_stats WHERE schemaname = '${schema}'`)).toEqual([]);
  });

  it("can change rows of its own project, and nothing that others run", async () => {
    for (const sql of [
      "CREATE TABLE more ()",
      "CREATE OR REPLACE FUNCTION log_tasks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
      "CREATE TRIGGER spy AFTER INSERT ON tasks EXECUTE FUNCTION log_tasks()",
      "ALTER TABLE tasks ADD COLUMN more text",
      "DROP FUNCTION mark_parent",
      "TRUNCATE tasks CASCADE",
      "SELECT setval('tasks_seq_seq', 1)",
      `CREATE SCHEMA haversack_attack${process.pid}`,
    ])
      expect(await fails(sql), sql).toBe("42501");
  });

  it("gets no other rights on the server", async () => {
    const [bob] = await mine.server.read((db) =>
      db.query("SELECT rolname AS role FROM pg_roles WHERE rolname LIKE 'bob_%'"),
    );
    const [group] = await mine.server.read((db) =>
      db.query("SELECT rolname AS role FROM pg_roles WHERE rolname LIKE $1", `${theirs.schema}_%`),
    );
    for (const sql of [
      `SET ROLE "${group?.["role"]}"`,
      `SET ROLE "${mine.place.server.user}"`,
      `GRANT "${group?.["role"]}" TO CURRENT_USER`,
      `ALTER ROLE "${bob?.["role"]}" PASSWORD 'known'`,
      "ALTER ROLE CURRENT_USER VALID UNTIL 'infinity'",
      "ALTER ROLE CURRENT_USER CONNECTION LIMIT -1",
      "CREATE ROLE more",
      "SELECT * FROM pg_authid",
      "SELECT pg_read_file('PG_VERSION')",
      "COPY (SELECT 1) TO PROGRAM 'true'",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'haversack'",
    ])
      expect(await fails(sql), sql).toBe("42501");
  });

  it("cannot hold up another project by any lock that it can take", async () => {
    await eve.exec("BEGIN; LOCK TABLE change_lock IN EXCLUSIVE MODE; LOCK TABLE meta IN EXCLUSIVE MODE");
    await eve.exec(
      `SELECT pg_advisory_lock(hashtext('${theirs.schema}'), 18518), pg_advisory_lock(hashtext('haversack migrations'), 18518)`,
    );
    try {
      await theirs.store.createTask({ title: "meanwhile" }, by("bob"));
      expect(await theirs.store.claim({ leaseMs: 60_000 }, by("bob"))).toMatchObject({ kind: "claimed" });
      // A new project can be made, too.
      await (await project("later")).server.prepare();
      // Its own project does wait.
      await expect(mine.store.createTask({ title: "waits" }, by("owner"))).rejects.toMatchObject({
        code: "store-locked",
      });
    } finally {
      await eve.exec("ROLLBACK; SELECT pg_advisory_unlock_all()");
    }
  });

  it("cannot take all connections of the server", async () => {
    const member = await addMember(mine.server, { name: "greedy" });
    const open: Connection[] = [];
    let refused: unknown;
    try {
      while (open.length < 60) open.push(await login(mine.place, member));
    } catch (error) {
      refused = error;
    } finally {
      for (const db of open) await db.close();
    }
    expect(refused).toMatchObject({ code: "53300", message: expect.stringContaining("too many connections for role") });
    expect(open).toHaveLength(40);
  });

  it("is removed while it works, whatever it has made, and can come back", async () => {
    const member = await addMember(mine.server, { name: "zoe", days: 1 });
    const zoe = await login(mine.place, member);
    await zoe.exec(
      "SELECT lo_create(0); CREATE TEMP TABLE scratch AS SELECT * FROM tasks; BEGIN; UPDATE tasks SET title = 'half'",
    );
    await removeMember(mine.server, "zoe");
    await expect(zoe.exec("COMMIT")).rejects.toThrow();
    expect(await mine.store.listTasks({ limit: 9, at: new Date() })).toMatchObject({
      items: [{ title: "secret of mine" }],
    });
    await expect(login(mine.place, member)).rejects.toMatchObject({ code: "28P01" });
    const again = await addMember(mine.server, { name: "zoe" });
    expect(again.role).toBe(member.role);
    await expect(login(mine.place, member)).rejects.toMatchObject({ code: "28P01" });
    await login(mine.place, again);
    await removeMember(mine.server, "zoe");
  });
});
