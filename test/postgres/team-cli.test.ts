/** The commands on a store that a team shares: joining, working together, moving work there and back, members. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { type Scratch, scratchProject } from "../bins.ts";
import { PASSWORD, sharedServer } from "./server.ts";

const server = await sharedServer(inject("postgresFolder"));

describe.skipIf(!server)("a store that a team shares", () => {
  const projects: string[] = [];
  let count = 0;

  /** The address of a project that nobody else uses, without a password. */
  function address(name = `cli${process.pid}_${++count}`): string {
    projects.push(name);
    const url = new URL(server!.url);
    url.password = "";
    url.searchParams.set("project", name);
    return url.href;
  }

  async function admin<T>(use: (exec: (sql: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T> {
    const db = await connect(readPlace(server!.url, {}), { timeoutMs: 5000 });
    try {
      return await use((sql) => db.exec(sql));
    } finally {
      await db.close();
    }
  }

  afterAll(() =>
    admin(async (exec) => {
      for (const name of projects) {
        const schema = `haversack_${name}`;
        await exec(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        for (const { rolname } of await exec(`SELECT rolname FROM pg_roles WHERE rolname LIKE '${schema}%'`))
          await exec(`DROP OWNED BY "${rolname}"; DROP ROLE "${rolname}"`).catch(() => undefined);
      }
    }),
  );

  const PG = { PGPASSWORD: PASSWORD };
  const ok = (ran: ReturnType<Scratch["haversack"]>) => {
    expect(ran.err).not.toContain("error:");
    expect(ran.code).toBe(0);
    return ran;
  };
  /** A clone on another machine: another folder and another home. */
  const machine = () => {
    const scratch = scratchProject();
    return {
      ...scratch,
      run: (words: string[], env: Record<string, string> = {}) => scratch.haversack(words, { env: { ...PG, ...env } }),
    };
  };

  it("is not part of a backup of this machine, which says so; nothing is drained without the server", () => {
    const one = machine();
    const url = address();
    ok(one.run(["store", "use", url]));
    const file = join(one.root, "copy.db");
    for (const command of ["backup", "restore"]) {
      const { err } = ok(one.run(["store", command, file]));
      expect(err).toMatch(/^haversack: note: the work is at postgres:/);
      expect(err).not.toContain(PASSWORD);
    }
    const away = new URL(url);
    away.port = "1";
    const drained = one.run(["runs", "drain", "build-3"], { HAVERSACK_STORE: away.href });
    expect(drained).toMatchObject({ code: 3, err: expect.stringContaining("cannot be reached") });
  });

  it("is not taken for another store that cannot be reached", () => {
    const one = machine();
    const url = address();
    ok(one.run(["store", "use", url]));
    ok(one.run(["task", "create", "of this store"]));
    const before = ok(one.run(["export"])).out;
    const away = (change: (url: URL) => void) => {
      const other = new URL(url);
      change(other);
      return other.href;
    };
    const others = [
      away((it) => (it.port = "1")),
      away((it) => (it.host = "127.0.0.1:1")),
      "postgres://x@127.0.0.1:1/t",
    ];
    for (const HAVERSACK_STORE of others) {
      for (const words of [
        ["task", "list"],
        ["task", "create", "lost?"],
        ["claim", "--agent", "a"],
        ["status"],
        ["export"],
      ]) {
        const refused = one.run(words, { HAVERSACK_STORE });
        expect(refused, words.join(" ")).toMatchObject({ code: 3, out: "" });
        expect(refused.err).toMatch(/:1\/.* cannot be reached.*\n.*the snapshot on this machine is of postgres:/);
      }
      const asked = one.run(["store", "status"], { HAVERSACK_STORE });
      expect(asked.code).toBe(3);
      expect(asked.out).not.toContain("snapshot");
    }
    // Nothing was recorded, neither a change nor the failure.
    expect(ok(one.run(["store", "status", "--json"])).json()).toMatchObject({ waiting: 0 });
    expect(ok(one.run(["store", "status"])).out).not.toContain("offline");
    const same = ok(one.run(["export"]));
    expect(same).toMatchObject({ out: before, err: "" });
    // The same server under another user's name and another spelling is the same store.
    const whole = new URL(url);
    whole.host = `localhost:${whole.port}`;
    expect(ok(one.run(["export"], { HAVERSACK_STORE: whole.href })).out).toBe(before);
    ok(one.run(["task", "create", "more"]));
  });

  it("is not made by a look at it", async () => {
    const one = machine();
    const url = address();
    const { schema, project } = readPlace(url, {});
    const asked = one.run(["store", "status", "--json"], { HAVERSACK_STORE: url });
    expect(asked).toMatchObject({
      code: 1,
      err: expect.stringContaining(`there is no project ${project} at postgres:`),
    });
    expect(asked.json()).toMatchObject({ driver: "postgresql", project, problem: expect.any(String) });
    await admin(async (exec) => {
      expect(await exec(`SELECT 1 AS found FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
    });
    ok(one.run(["task", "create", "first"], { HAVERSACK_STORE: url }));
    ok(one.run(["store", "status"], { HAVERSACK_STORE: url }));
  });

  it("is one queue for several machines", () => {
    const url = address();
    const [one, two] = [machine(), machine()];
    expect(ok(one.run(["store", "use", url, "--json"])).json()).toMatchObject({ driver: "postgresql" });
    ok(two.run(["store", "use", url]));
    const { id } = ok(one.run(["task", "create", "shared", "--json"])).json();
    expect(ok(two.run(["next", "--json"])).json()[0]).toMatchObject({ id });
    ok(two.run(["claim", id, "--agent", "two"]));
    const held = one.run(["claim", id, "--agent", "one"]);
    expect(held.code).toBe(1);
    expect(held.err).toContain("two");
    ok(two.run(["done", id, "--agent", "two"]));
    expect(ok(one.run(["status", "--json"])).json().tasks).toMatchObject({ done: 1 });
    // The packet reads the snapshot, which the command has brought up to date.
    ok(one.run(["task", "create", "second", "--json"]));
    ok(two.run(["claim", "--agent", "two"]));
    expect(ok(two.run(["wake", "two", "--client", "plain"])).out).toContain("second");
    const status = ok(one.run(["store", "status", "--json"])).json();
    expect(status).toMatchObject({ driver: "postgresql", from: "record", server_version: expect.stringMatching(/^1/) });
    expect(Math.abs(status.clock_offset_ms)).toBeLessThan(10_000);
  });

  it("may be named by HAVERSACK_STORE, with a password that is stored and printed nowhere", () => {
    const whole = new URL(address());
    whole.password = PASSWORD;
    const one = scratchProject();
    const env = { HAVERSACK_STORE: whole.href };
    const texts = [["task", "create", "t"], ["status"], ["store", "status"], ["store", "status", "--json"], ["doctor"]]
      .map((words) => one.haversack(words, { env }))
      .map(({ out, err }) => out + err);
    expect(texts.join("\n")).toContain("127.0.0.1");
    expect(texts.join("\n")).not.toContain(PASSWORD);
    for (const folder of [one.root, one.home])
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const path = join(folder, name);
        if (statSync(path).isFile()) expect(readFileSync(path, "latin1"), path).not.toContain(PASSWORD);
      }
    // Without it, the copy here is not taken for the project's work.
    const local = one.haversack(["task", "create", "lost?"]);
    expect(local.code).toBe(1);
    expect(local.err).toMatch(/is shared at postgres:.*\n.*store use/);
  });

  it("keeps no password from `store use`, and nothing in the repository", () => {
    const one = machine();
    const whole = new URL(address());
    whole.password = PASSWORD;
    const refused = one.run(["store", "use", whole.href]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("PGPASSWORD");
    expect(refused.err).not.toContain(PASSWORD);
    const url = address();
    ok(one.run(["store", "use", url]));
    for (const name of readdirSync(join(one.root, ".haversack"), { recursive: true, encoding: "utf8" })) {
      if (name.startsWith("haversack.db")) continue;
      const path = join(one.root, ".haversack", name);
      if (statSync(path).isFile()) expect(readFileSync(path, "utf8")).not.toContain("postgres");
    }
  });

  it("takes all work and gives it back, byte for byte", () => {
    const one = machine();
    const { id } = ok(one.run(["task", "create", "first", "--json"])).json();
    ok(one.run(["claim", id, "--agent", "a"]));
    ok(one.run(["wip", id, '{"phase":"half"}', "--agent", "a"]));
    ok(one.run(["done", id, "--agent", "a"]));
    ok(one.run(["task", "create", "second"]));
    const before = ok(one.run(["export"])).out;
    expect(before.split("\n").length).toBeGreaterThan(3);
    const url = address();
    expect(one.run(["store", "use", url]).err).toMatch(/has work of its own.*\n.*store migrate/);
    ok(one.run(["store", "migrate", url]));
    expect(ok(one.run(["export"])).out).toBe(before);
    expect(one.run(["store", "migrate", address()]).err).toContain("already");
    // Another machine sees the same, and adds to it.
    const two = machine();
    ok(two.run(["store", "use", url]));
    expect(ok(two.run(["export"])).out).toBe(before);
    ok(two.run(["task", "create", "third"]));
    const there = ok(two.run(["export"])).out;
    ok(one.run(["store", "migrate", "local"]));
    expect(ok(one.run(["store", "status", "--json"])).json()).toMatchObject({ driver: "sqlite" });
    expect(ok(one.run(["export"])).out).toBe(there);
    ok(one.run(["task", "create", "fourth"]));
    expect(ok(two.run(["export"])).out).toBe(there);
    // The server has work: nothing is copied over it.
    const again = one.run(["store", "migrate", url]);
    expect(again.code).toBe(1);
    expect(again.err).toContain("has work already");
  });

  it("is left with a copy of its work", () => {
    const url = address();
    const one = machine();
    ok(one.run(["store", "use", url]));
    ok(one.run(["task", "create", "kept"]));
    const before = ok(one.run(["export"])).out;
    expect(ok(one.run(["store", "use", "local"])).out).toContain("local store");
    expect(ok(one.run(["export"])).out).toBe(before);
  });

  it("is taken up again after it was left, unless the work has changed here meanwhile", () => {
    const url = address();
    const [one, two] = [machine(), machine()];
    for (const each of [one, two]) ok(each.run(["store", "use", url]));
    const { id } = ok(one.run(["task", "create", "kept", "--json"])).json();
    ok(one.run(["claim", id, "--agent", "a"]));
    for (const words of [
      ["store", "use", "local"],
      ["store", "migrate", "local"],
    ]) {
      ok(one.run(words));
      ok(one.run(["task", "list"]));
      ok(one.run(["status"]));
      ok(two.run(["task", "create", `after ${words.join(" ")}`]));
      expect(one.run(["store", "use", address()]).err).toContain("has work of its own");
      ok(one.run(["store", "use", url]));
      expect(ok(one.run(["export"])).out).toBe(ok(two.run(["export"])).out);
    }
    ok(one.run(["store", "use", "local"]));
    ok(one.run(["task", "update", id, "--title", "changed"]));
    const refused = one.run(["store", "use", url]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/has work of its own.*\n.*another clone/) });
    expect(ok(one.run(["task", "list"])).out).toContain("changed");
  });

  it("is refused for another repository with the same project name", () => {
    const url = address();
    const repository = (text: string) => {
      const made = machine();
      rmSync(join(made.root, ".git"), { recursive: true });
      const git = (...words: string[]) =>
        execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: made.root });
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", text);
      return made;
    };
    ok(repository("one").run(["store", "use", url]));
    const other = repository("two").run(["store", "use", url]);
    expect(other.code).toBe(1);
    expect(other.err).toMatch(/another repository with the same project name\n.*\?project=NAME/);
  });

  describe("with members", () => {
    let owner: ReturnType<typeof machine>;
    let url: string;
    const user = (address: string, password: string) => {
      const made = scratchProject();
      return (words: string[], at = address) => {
        const whole = new URL(at);
        whole.password = password;
        return made.haversack(words, { env: { HAVERSACK_STORE: whole.href } });
      };
    };
    beforeAll(() => {
      owner = { ...scratchProject(() => undefined), run: () => expect.unreachable() };
      url = address();
      owner.run = (words, env = {}) => owner.haversack(words, { env: { ...PG, ...env } });
      ok(owner.run(["store", "use", url]));
      ok(owner.run(["task", "create", "secret plan"]));
    });
    afterAll(() => rmSync(join(owner.root, ".."), { recursive: true, force: true }));

    it("lets each use its own project, and no other", () => {
      const added = ok(owner.run(["store", "member", "add", "ann", "--json"])).json();
      const ann = user(added.address, added.password);
      expect(ok(ann(["next", "--json"])).json()).toHaveLength(1);
      ok(ann(["task", "create", "by ann"]));
      ok(ann(["claim", "--agent", "ann"]));

      const other = machine();
      const otherUrl = address();
      ok(other.run(["store", "use", otherUrl]));
      ok(other.run(["task", "create", "another secret"]));
      const bob = ok(other.run(["store", "member", "add", "bob", "--json"])).json();
      const elsewhere = new URL(added.address);
      elsewhere.searchParams.set("project", new URL(otherUrl).searchParams.get("project") as string);
      // In another clone, so that it is not the local mark that keeps ann out.
      const stranger = user(elsewhere.href, added.password);
      for (const words of [["next"], ["status"], ["export"], ["task", "create", "x"], ["store", "member", "list"]]) {
        const refused = stranger(words);
        expect(refused.code, words.join(" ")).toBe(1);
        expect(refused.err).toMatch(/may not do that \(permission denied/);
        expect(refused.out).not.toContain("another secret");
      }
      const back = new URL(bob.address);
      back.searchParams.set("project", new URL(url).searchParams.get("project") as string);
      expect(user(back.href, bob.password)(["export"]).code).toBe(1);
    });

    it("gives no member rights beyond rows", async () => {
      const { user: role } = ok(owner.run(["store", "member", "add", "eve", "--json"])).json();
      const schema = readPlace(url, {}).schema;
      await admin(async (exec) => {
        const [may] = await exec(`SELECT has_schema_privilege('${role}', '${schema}', 'CREATE') AS make,
          has_database_privilege('${role}', current_database(), 'CREATE') AS project,
          has_table_privilege('${role}', '${schema}.tasks', 'TRUNCATE') AS truncate,
          has_table_privilege('${role}', '${schema}.tasks', 'SELECT') AS read`);
        expect(may).toEqual({ make: "f", project: "f", truncate: "f", read: "t" });
        const [found] = await exec(
          `SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = '${role}'`,
        );
        expect(Object.values(found ?? {})).toEqual(["f", "f", "f", "f"]);
      });
    });

    it("prints what the new member needs, once, and removal ends it", () => {
      const { out } = ok(owner.run(["store", "member", "add", "zoe", "--days", "30"]));
      const [, line = "", given = ""] =
        /echo '([^']+)' >> ~\/\.pgpass && haversack store use '([^']+)'/.exec(out) ?? [];
      const password = line.split(":").at(-1) ?? "";
      expect(out).toContain(`HAVERSACK_STORE='`);
      const zoe = scratchProject();
      zoe.write("../home/.pgpass", `${line}\n`);
      execFileSync("chmod", ["600", join(zoe.home, ".pgpass")]);
      ok(zoe.haversack(["store", "use", given]));
      expect(ok(zoe.haversack(["task", "list"])).out).toContain("secret plan");
      expect(ok(owner.run(["store", "member", "list", "--json"])).json()).toContainEqual(
        expect.objectContaining({ name: "zoe", expires_at: expect.stringMatching(/^20/) }),
      );
      expect(owner.run(["store", "member", "add", "zoe"]).err).toContain("is a member already");
      ok(owner.run(["store", "member", "rm", "zoe"]));
      const after = zoe.haversack(["next"]);
      expect(after.code).toBe(3);
      expect(after.err).toContain("refused this user");
      expect(after.err + after.out).not.toContain(password);
      expect(owner.run(["store", "member", "rm", "zoe"])).toMatchObject({ code: 1 });
      expect(owner.run(["store", "member", "add", "Bad Name"])).toMatchObject({ code: 2 });
    });
  });
});
