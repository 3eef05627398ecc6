/** A shared store that cannot be used: each case is reported in one line with a hint and without the password, and nothing is lost. */
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { scratchProject } from "../bins.ts";
import { PASSWORD, sharedServer } from "./server.ts";

const MOVED_CLOCK = join(import.meta.dirname, "../runs/moved-clock.mjs");
const server = await sharedServer(inject("postgresFolder"));

describe.skipIf(!server)("a shared store that cannot be used", () => {
  const projects: string[] = [];
  const address = () => {
    const url = new URL(server!.url);
    const name = `bad${process.pid}_${projects.length}`;
    projects.push(name);
    url.searchParams.set("project", name);
    return url;
  };
  const exec = async (sql: string) => {
    const db = await connect(readPlace(server!.url, {}), { timeoutMs: 5000 });
    try {
      return await db.exec(sql);
    } finally {
      await db.close();
    }
  };
  afterAll(async () => {
    for (const name of projects) await exec(`DROP SCHEMA IF EXISTS haversack_${name} CASCADE`);
  });
  const project = (url: URL) => {
    const made = scratchProject();
    return (words: string[], env: Record<string, string> = {}) =>
      made.haversack(words, { env: { HAVERSACK_STORE: url.href, ...env } });
  };
  const told = ({ code, out, err }: ReturnType<ReturnType<typeof project>>) => {
    const lines = err.trimEnd().split("\n");
    expect(lines.length, err).toBeLessThanOrEqual(2);
    expect(lines[0]).toMatch(/^haversack: error: /);
    expect(`${out}${err}`).not.toContain(PASSWORD);
    expect(out).toBe("");
    return { code, error: lines[0] ?? "", hint: lines[1] ?? "" };
  };

  it("a wrong password", () => {
    const url = address();
    url.password = "wrong-one";
    const { code, error, hint } = told(project(url)(["task", "create", "t"]));
    expect(code).toBe(3);
    expect(error).toMatch(/refused this user: password authentication failed/);
    expect(error + hint).not.toContain("wrong-one");
    expect(hint).toContain(".pgpass");
  });

  it("no server, or one that does not speak", async () => {
    const url = address();
    url.port = "1";
    expect(told(project(url)(["task", "create", "t"]))).toMatchObject({
      code: 3,
      error: expect.stringContaining("cannot be reached"),
    });
    expect(told(project(url)(["store", "use", "postgres://ann@127.0.0.1:1/x"])).error).toContain("cannot be reached");
    const deaf = createServer(() => undefined);
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    url.port = String((deaf.address() as { port: number }).port);
    expect(told(project(url)(["status"])).error).toMatch(/cannot be reached/);
    deaf.close();
  });

  it("an address that is none, or names a project wrongly", () => {
    for (const [text, says] of [
      ["mysql://ann@localhost/x", "must be a URL such as postgres://"],
      ["not a url", "must be a URL such as postgres://"],
      [`${server!.url}?project=No+Good`, "project must be lower-case"],
      [`${server!.url}?sslmode=maybe`, "sslmode must be one of"],
    ] as const) {
      const { code, error } = told(scratchProject().haversack(["status"], { env: { HAVERSACK_STORE: text } }));
      expect(code).toBe(2);
      expect(error).toContain(says);
    }
  });

  it("tables of a newer Haversack", async () => {
    const url = address();
    const run = project(url);
    expect(run(["task", "create", "kept"]).code).toBe(0);
    const { schema } = readPlace(url.href, {});
    const set = (version: string) =>
      exec(`UPDATE ${schema}.meta SET value = '${version}' WHERE key IN ('version', 'min_reader')`);
    const [before] = await exec(`SELECT value FROM ${schema}.meta WHERE key = 'version'`);
    await set("99");
    expect(told(run(["task", "create", "u"]))).toMatchObject({ error: expect.stringContaining("newer Haversack") });
    await set(String(before?.["value"]));
    expect(JSON.parse(run(["task", "list", "--json"]).out)).toHaveLength(1);
  });

  it("tables of an older Haversack, for a member who may not upgrade them", async () => {
    const url = address();
    expect(project(url)(["task", "create", "kept"]).code).toBe(0);
    const made = scratchProject();
    const added = made.haversack(["store", "member", "add", "ann", "--json"], { env: { HAVERSACK_STORE: url.href } });
    const { address: given, password } = added.json();
    const { schema } = readPlace(url.href, {});
    await exec(`UPDATE ${schema}.meta SET value = '1' WHERE key = 'version'`);
    const own = new URL(given);
    own.password = password;
    const { code, error, hint } = told(project(own)(["status"]));
    expect(code).toBe(1);
    expect(error).toMatch(/are of version 1, and an upgrade to \d+ needs the owner/);
    expect(hint).toContain("owner");
  });

  it("one that can only be read: reading goes on", async () => {
    const url = address();
    expect(project(url)(["task", "create", "kept"]).code).toBe(0);
    const name = `readonly_cli_${process.pid}`;
    await exec(`CREATE ROLE ${name} SUPERUSER LOGIN PASSWORD '${PASSWORD}';
      ALTER ROLE ${name} SET default_transaction_read_only = on`);
    try {
      url.username = name;
      const run = project(url);
      expect(told(run(["task", "create", "u"]))).toMatchObject({
        code: 3,
        error: expect.stringContaining("can only be read"),
      });
      expect(JSON.parse(run(["task", "list", "--json"]).out)).toHaveLength(1);
    } finally {
      await exec(`DROP ROLE ${name}`);
    }
  });

  it("a clock that is off by an hour: leases follow the server's, and it is said", () => {
    const url = address();
    const right = project(url);
    const made = scratchProject();
    const clock = made.write("clock", String(60 * 60_000));
    const ahead = (words: string[]) =>
      made.haversack(words, {
        env: { HAVERSACK_STORE: url.href, NODE_OPTIONS: `--import=${MOVED_CLOCK}`, CLOCK_FILE: clock },
      });
    expect(right(["task", "create", "t"]).code).toBe(0);
    expect(right(["claim", "--agent", "ann", "--lease", "30"]).code).toBe(0);
    // By this machine's clock the lease has ended, but the server's clock counts.
    const refused = ahead(["claim", "--agent", "ben"]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(right(["status", "--json"]).out).in_progress[0].claim.agent).toBe("ann");
    const status = ahead(["store", "status"]);
    expect(status.code).toBe(0);
    expect(status.err).toContain("clock is 60 minutes ahead of the server's");
  });

  it("a full disk there: nothing was saved, and nothing is half saved", async () => {
    const url = address();
    const run = project(url);
    expect(run(["task", "create", "kept"]).code).toBe(0);
    const { schema } = readPlace(url.href, {});
    // The error that PostgreSQL gives then, half-way through a change.
    await exec(`CREATE FUNCTION ${schema}.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER no_space BEFORE INSERT ON ${schema}.activity FOR EACH ROW EXECUTE FUNCTION ${schema}.full()`);
    expect(told(run(["task", "create", "u"]))).toMatchObject({
      code: 3,
      error: expect.stringMatching(/disk of .* is full; nothing was saved/),
    });
    await exec(`DROP TRIGGER no_space ON ${schema}.activity`);
    expect(JSON.parse(run(["task", "list", "--json"]).out)).toHaveLength(1);
  });
});
