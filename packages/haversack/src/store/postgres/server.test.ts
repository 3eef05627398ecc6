import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server as NetServer, connect as open, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { agent, faultOf, merging } from "../work-under-test.suite.ts";
import { connect } from "./connection.ts";
import { Listener } from "./listener.ts";
import { migrations } from "./migrations.ts";
import { readPlace } from "./place.ts";
import { PostgresWorkStore } from "./postgres-work-store.ts";
import { freshUrl, type Scratch, scratch, server } from "./scratch-postgres.suite.ts";
import { Server, type ServerOptions } from "./server.ts";

const LEASE_MS = 30 * 60_000;
const HOUR_MS = 60 * 60_000;

describe.skipIf(!server)("a PostgreSQL server", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  function make(): Scratch {
    const place = scratch();
    closing.push(() => place.close());
    return place;
  }
  function at(url: string, options: ServerOptions = {}): PostgresWorkStore {
    const opened = new Server(readPlace(url, {}), { patienceMs: 2000, ...options });
    closing.push(() => opened.close());
    return new PostgresWorkStore(opened);
  }
  const tcp = () => {
    const url = new URL(server?.url ?? "");
    url.searchParams.set("project", new URL(freshUrl()).searchParams.get("project") as string);
    return url;
  };

  describe("that cannot be used says so in one line, without the password", () => {
    const says = async (url: string, options?: ServerOptions) => {
      const fault = await faultOf(at(url, options).createTask({ title: "t" }, agent()));
      expect(`${fault.message} ${fault.hint}`).not.toMatch(/\n|secret/);
      return fault;
    };

    it("a wrong password", async () => {
      const url = tcp();
      url.password = "secret-but-wrong";
      const { code, message, hint } = await says(url.href);
      expect(code).toBe("store-unreadable");
      expect(message).toMatch(/^postgres:\/\/haversack@127\.0\.0\.1:\d+\/postgres.* refused this user: password auth/);
      expect(hint).toContain(".pgpass");
    });

    it("no password", async () => {
      const url = tcp();
      url.password = "";
      expect(await says(url.href)).toMatchObject({
        code: "store-unreadable",
        message: expect.stringMatching(/refused this user: no password was given$/),
        hint: expect.stringContaining(".pgpass"),
      });
    });

    it("a password file that others can read; one that only the user can read is used, without a warning", async () => {
      const folder = mkdtempSync(join(tmpdir(), "haversack-pgpass-"));
      closing.push(() => rmSync(folder, { recursive: true }));
      const file = join(folder, ".pgpass");
      const url = tcp();
      const [user, password] = [url.username, url.password];
      url.password = "";
      const lines = [`# ${user}`, `other.example:*:*:${user}:wrong`, `127.0.0.1:*:post\\gres:${user}:${password}`];
      writeFileSync(file, lines.join("\n"), { mode: 0o644 });
      const warnings: string[] = [];
      const hear = ({ message }: Error) => warnings.push(message);
      process.on("warning", hear);
      closing.push(() => process.off("warning", hear));
      const withFile = () => {
        const opened = new Server(readPlace(url.href, { HOME: folder }));
        closing.push(() => opened.close());
        return new PostgresWorkStore(opened);
      };
      const fault = await faultOf(withFile().createTask({ title: "t" }, agent()));
      expect(fault).toMatchObject({ code: "refused", hint: `run \`chmod 600 ${file}\`` });
      chmodSync(file, 0o600);
      expect(await withFile().createTask({ title: "t" }, agent())).toMatchObject({ title: "t" });
      expect(warnings).toEqual([]);
    });

    it("no server", async () => {
      const url = tcp();
      url.port = "1";
      expect(await says(url.href)).toMatchObject({
        code: "store-unreadable",
        message: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
      });
    });

    it("no such database", async () => {
      const url = tcp();
      url.pathname = "/nowhere";
      expect((await says(url.href)).message).toMatch(/database "nowhere" does not exist/);
    });

    it("an old version", async () => {
      const { code, message } = await says(tcp().href, { oldestServer: 990_000 });
      expect(code).toBe("store-unreadable");
      expect(message).toMatch(/is PostgreSQL \d.*; Haversack needs 99 or newer$/);
    });

    it("TLS that the server does not have", async () => {
      const url = tcp();
      url.searchParams.set("sslmode", "require");
      expect((await says(url.href)).message).toMatch(
        /cannot be used with this sslmode: The server does not support SSL/,
      );
    });

    it("tables of a newer Haversack, which stay as they are", async () => {
      const place = make();
      const { store } = place.open();
      await store.createTask({ title: "t" }, agent());
      const db = await connect(readPlace(place.url), { timeoutMs: 5000 });
      const { schema } = readPlace(place.url);
      await db.exec(`UPDATE ${schema}.meta SET value = '99' WHERE key IN ('version', 'min_reader')`);
      await db.close();
      expect(await says(place.url)).toMatchObject({
        code: "store-too-new",
        message: expect.stringMatching(/was written by a newer Haversack: it needs schema 99, this program knows \d+$/),
      });
      // One that was open before stops too.
      expect(await faultOf(store.createTask({ title: "u" }, agent()))).toMatchObject({ code: "store-too-new" });
    });

    it("tables of another program", async () => {
      const place = make();
      const { schema } = readPlace(place.url);
      const db = await connect(readPlace(place.url), { timeoutMs: 5000 });
      await db.exec(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.tasks (id int)`);
      await db.close();
      expect(await says(place.url)).toMatchObject({ code: "store-not-a-database" });
    });

    it("one that can only be read; reading goes on", async () => {
      const place = make();
      await place.open().store.createTask({ title: "t" }, agent());
      const url = new URL(place.url);
      const name = `readonly_${process.pid}`;
      const db = await connect(readPlace(place.url), { timeoutMs: 5000 });
      await db.exec(`CREATE ROLE ${name} SUPERUSER LOGIN; ALTER ROLE ${name} SET default_transaction_read_only = on`);
      closing.push(async () => {
        await db.exec(`DROP ROLE ${name}`);
        await db.close();
      });
      url.username = name;
      expect(await says(url.href)).toMatchObject({ code: "store-read-only" });
      expect(await at(url.href).listTasks({ limit: 9, at: new Date() })).toMatchObject({ total: 1 });
    });

    it("an address that is none", () => {
      for (const url of ["", "team-db", "mysql://u:secret@h/d", "postgres://u:secret@[/d"])
        expect(() => readPlace(url, {})).toThrow(/must be a URL such as postgres:\/\/user@host\/database$/);
      expect(() => readPlace("postgres://u:secret@h/d?sslmode=on", {})).toThrow(/^sslmode must be one of disable, /);
      expect(() => readPlace("postgres://u:secret@h/d?sslmode=disable&projekt=abc", {})).toThrow(
        expect.objectContaining({
          message: 'the store\'s address has an unknown parameter "projekt"',
          hint: "it takes project, host, port, user, password, sslmode, sslrootcert, sslcert, sslkey",
        }),
      );
      expect(() => readPlace("postgres://u:12?secret@h/d", {})).toThrow(/an unknown parameter$/);
      // As hosted databases print their addresses.
      expect(readPlace("postgres://h/d?channel_binding=require&connect_timeout=10", {})).toMatchObject({
        server: { database: "d" },
      });
      expect(() => readPlace("postgres://u:secret@h/d?project=A%20B", {})).toThrow(/^project must be lower-case/);
    });
  });

  it("gets its tables once, from several that start at the same time", async () => {
    const place = make();
    const stores = Array.from({ length: 6 }, () => place.open().store);
    await Promise.all(stores.map((store, index) => store.createTask({ title: `t${index}` }, agent())));
    expect((await stores[0]?.listTasks({ limit: 9, at: agent().at }))?.total).toBe(6);
  });

  it("upgrades tables of an earlier version; a program that knows only that version may still use them", async () => {
    const place = make();
    const before = place.open({ migrations: migrations.filter(({ version }) => version <= 7) });
    for (const title of ["a", "b", "c"]) await before.store.createTask({ title }, agent());
    const after = place.open();
    expect(await after.store.claim({ leaseMs: LEASE_MS }, agent("new"))).toMatchObject({ task: { title: "a" } });
    expect(await after.store.claim({ leaseMs: LEASE_MS }, agent("new"))).toMatchObject({ task: { title: "b" } });
    expect(await before.store.claim({ leaseMs: LEASE_MS }, agent("old"))).toMatchObject({ task: { title: "c" } });
  });

  it("has the time: a machine whose clock is an hour ahead ends no claim", async () => {
    const place = make();
    const { store } = place.open({ clock: "server" });
    const { id } = await store.createTask({ title: "t" }, agent());
    const now = Date.now();
    const here = { name: "ann", at: new Date(now) };
    const ahead = { name: "ben", at: new Date(now + HOUR_MS) };
    expect(await store.claim({ leaseMs: LEASE_MS }, here)).toMatchObject({ kind: "claimed" });
    expect(await store.claim({ taskId: id, leaseMs: LEASE_MS }, ahead)).toMatchObject({ kind: "held" });
    expect(await store.listClaims({ at: ahead.at })).toHaveLength(1);
    // One whose clock is behind does not hold longer.
    const behind = { name: "zoe", at: new Date(now - HOUR_MS) };
    const second = await store.createTask({ title: "u" }, behind);
    await store.claim({ taskId: second.id, leaseMs: 1 }, behind);
    expect(await store.listClaims({ agent: "zoe", at: behind.at })).toEqual([]);
  });

  it("tells those who wait that something has changed", async () => {
    const place = make();
    const { store } = place.open();
    await store.createTask({ title: "t" }, agent());
    const listener = new Listener(place.open().server);
    closing.push(() => listener.close());
    // It tells once when it begins to listen.
    await listener.wait(listener.mark, 20_000);
    const mark = listener.mark;
    await listener.wait(mark, 50);
    expect(listener.mark).toBe(mark);
    const waiting = listener.wait(mark, 20_000);
    await place.open().store.createTask({ title: "u" }, agent());
    await waiting;
    expect(listener.mark).not.toBe(mark);
    // A change since the mark was read is not missed.
    await listener.wait(mark, 20_000);
  });

  it("gives each of many that ask at once another task, in order, one by one and several at once", async () => {
    const place = make();
    const { store } = place.open({ connections: 8 });
    const story = await store.createStory({ title: "s" }, agent());
    for (let index = 0; index < 12; index++)
      await store.createTask({ title: `t${index}`, ...(index % 2 && { storyId: story.id }) }, agent("ann", index));
    // The first claim gives the store its clock and the story its status.
    await store.claim({ storyId: story.id, leaseMs: LEASE_MS }, agent("first", 20));
    const single = await Promise.all(
      Array.from({ length: 5 }, (_, index) => store.claim({ leaseMs: LEASE_MS }, agent(`a${index}`, 20))),
    );
    const several = await Promise.all(
      [1, 2].map((n) => store.claimSeveral({ leaseMs: LEASE_MS }, 4, agent(`b${n}`, 20))),
    );
    const ids = [...single, ...several.flat()].map((outcome) => outcome.kind === "claimed" && outcome.claim.taskId);
    expect(new Set(ids).size).toBe(11);
    expect(ids).not.toContain(false);
    expect(await store.claim({ leaseMs: LEASE_MS }, agent("late", 20))).toEqual({ kind: "nothing-ready" });
    expect(await store.listClaims({ at: agent("ann", 20).at })).toHaveLength(12);
  });

  it("answers claims of one process that wait at the same time by one statement, each with its own task", async () => {
    const place = make();
    const { store, server } = place.open();
    const tasks = Array.from({ length: 9 }, (_, index) => index);
    for (const index of tasks) await store.createTask({ title: `t${index}` }, agent("ann", index));
    const first = await store.claim({ leaseMs: LEASE_MS }, agent("first", 20));
    expect(first).toMatchObject({ task: { title: "t0" } });
    // The next one was blocked before, so it is taken in the general way.
    const [next] = (await store.nextTasks({ limit: 1, at: agent("ann", 20).at })).tasks;
    await store.setBlocker({ taskId: next?.id ?? "", reason: "no key" }, agent("ann", 20));
    await store.resolveBlockers({ taskId: next?.id ?? "" }, agent("ann", 20));
    const names = tasks.slice(1).map((index) => `a${index}`);
    const claims = names.map((name, index) =>
      store.claim(
        { leaseMs: LEASE_MS },
        { ...agent(name, 20), sessionId: `s${index}`, place: { branch: `b${index}` } },
      ),
    );
    const outcomes = await Promise.all(claims);
    expect(outcomes.map((outcome) => outcome.kind === "claimed" && outcome.claim)).toEqual(
      names.map((name, index) => expect.objectContaining({ agent: name, sessionId: `s${index}` })),
    );
    const ids = outcomes.map((outcome) => (outcome.kind === "claimed" ? outcome.task.id : ""));
    expect(new Set(ids).size).toBe(names.length);
    const rows = await server.read((db) =>
      db.query(`SELECT t.id, c.agent, h.branch, a.actor FROM claims c JOIN tasks t ON t.seq = c.task JOIN last_holders h ON h.task = c.task
      JOIN activity a ON a.subject = t.id AND a.kind = 'task-claimed' AND a.actor = c.agent WHERE c.agent LIKE 'a%' ORDER BY c.agent`),
    );
    expect(rows).toEqual(
      names.map((name, index) => ({ id: ids[index], agent: name, branch: `b${index}`, actor: name })),
    );
    // All but that one.
    const sizes = "SELECT cardinality(array_remove(tasks, NULL)) AS size FROM operations WHERE tasks IS NOT NULL";
    expect((await server.read((db) => db.query(sizes))).map(({ size }) => size)).toContain(names.length - 1);
  });

  it("lets a claim that waited for a change see what the change made", async () => {
    const place = make();
    const { store, server } = place.open();
    for (const [index, title] of ["a", "b"].entries()) await store.createTask({ title }, agent("ann", index));
    await store.claim({ leaseMs: LEASE_MS }, agent("first", 20));
    let claim: Promise<unknown> | undefined;
    await server.write(async (db) => {
      claim = store.claim({ leaseMs: LEASE_MS }, agent("waits", 20));
      const isWaiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'change_lock'::regclass";
      while ((await db.query(isWaiting)).length === 0) await sleep(10);
      // It was held before and taken back: with the rows as they were when the claim arrived, nobody would notice.
      await db.exec(`INSERT INTO last_holders (task, agent, claimed_at, last_seen_at)
        SELECT seq, 'before', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM tasks WHERE title = 'b'`);
    });
    expect(await claim).toMatchObject({ kind: "claimed", task: { title: "b" } });
  });

  it("shows each task that it takes with all that belongs to it", async () => {
    const place = make();
    const { store } = place.open();
    const create = (title: string, more = {}) => store.createTask({ title, ...more }, agent());
    const first = await create("first");
    await store.claim({ leaseMs: LEASE_MS }, agent("first", 1));
    const ready = {
      plain: await create("plain", { files: ["a\0b.ts", "c.ts"] }),
      dependency: await create("waits for one that is done"),
      waitedFor: await create("waited for"),
      withParts: await create("with parts"),
      failed: await create("failed once"),
      wip: await create("with WIP"),
    };
    const { dependency, waitedFor, withParts, failed, wip } = ready;
    await store.addDependency({ taskId: dependency.id, dependsOnId: first.id, type: "relates_to" }, agent());
    const waiting = await create("waiting");
    await store.addDependency({ taskId: waiting.id, dependsOnId: waitedFor.id, type: "blocks" }, agent());
    const parts = [await create("part", { parentId: withParts.id }), await create("part later")];
    await store.updateTask(parts[1]?.id ?? "", { parentId: failed.id }, agent());
    for (const { id } of parts) {
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, agent("part", 1));
      await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, agent("part", 1));
    }
    await store.recordFailure({ taskId: failed.id, summary: "no" }, agent());
    await store.updateWip({ taskId: wip.id, merge: merging({ phase: "half" }) }, agent());
    const taken = new Set<string>();
    for (let index = 0; index < Object.keys(ready).length; index++) {
      const outcome = await store.claim({ leaseMs: LEASE_MS }, agent("taker", 2));
      if (outcome.kind !== "claimed") throw new Error(outcome.kind);
      taken.add(outcome.task.id);
      expect(outcome.task).toEqual(await store.getTask(outcome.task.id, agent("taker", 2).at));
    }
    expect(taken).toEqual(new Set(Object.values(ready).map(({ id }) => id)));
  });

  it("keeps every character of what it takes, one by one and several at once", async () => {
    const place = make();
    const { store } = place.open();
    const epic = await store.createEpic({ title: "e" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    const texts = [
      '"',
      "\\",
      '\\"',
      "()",
      ",",
      'a, (b) "c" \\d\\\\',
      "line\nline\ttab",
      "\u0001\u00010\0",
      '"",""',
      "ä 😀",
    ];
    for (const [index, text] of [...texts, ...texts].entries())
      await store.createTask(
        {
          title: `t${index}`,
          description: text,
          steps: [{ text, isDone: true }],
          estimateHours: 0.25,
          skill: index % 2 ? "s" : null,
          storyId: story.id,
          ...(index % 3 === 0 && { files: ['a "b",\\c.ts', "d.ts"] }),
        } as never,
        agent("ann", index),
      );
    const at = 30;
    const first = await store.claim({ storyId: story.id, leaseMs: LEASE_MS }, agent("first", at));
    const single = await store.claim({ storyId: story.id, leaseMs: LEASE_MS }, agent("a", at));
    const outcomes = [first, single];
    for (let index = 0; index < 7; index++) outcomes.push(await store.claim({ leaseMs: LEASE_MS }, agent("a", at)));
    outcomes.push(...(await store.claimSeveral({ epicId: epic.id, leaseMs: LEASE_MS }, 4, agent("b", at))));
    outcomes.push(...(await store.claimSeveral({ leaseMs: LEASE_MS }, 7, agent("c", at))));
    expect(outcomes).toHaveLength(2 * texts.length);
    const titles = [];
    for (const outcome of outcomes) {
      if (outcome.kind !== "claimed") throw new Error(outcome.kind);
      titles.push(outcome.task.title);
      expect(outcome.task).toEqual(await store.getTask(outcome.task.id, agent("a", at).at));
    }
    expect(new Set(titles).size).toBe(2 * texts.length);
  });

  describe("whose answer is lost", () => {
    /** Passes everything on, until the client sends `text`: the server gets it, but the client no answer. */
    async function deafAfter(text: string): Promise<{ port: number; isUsed: () => boolean }> {
      let isUsed = false;
      const target = Number(new URL(server?.url ?? "").port);
      const listener: NetServer = createServer((here) => {
        const there = open(target, "127.0.0.1");
        for (const socket of [here, there]) socket.on("error", () => undefined);
        here.on("data", (bytes) => {
          there.write(bytes);
          if (isUsed || !bytes.includes(text)) return;
          isUsed = true;
          here.destroy();
          there.end();
        });
        there.on("data", (bytes) => here.write(bytes));
        here.on("close", () => there.end());
        there.on("close", () => here.end());
      });
      await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
      closing.push(() => listener.close());
      return { port: (listener.address() as { port: number }).port, isUsed: () => isUsed };
    }

    it("because the server is going down when it is asked for TLS: it is asked again", async () => {
      const url = tcp();
      const target = Number(url.port);
      const sockets = new Set<Socket>();
      let isGoingDown = false;
      const listener = createServer((here) => {
        sockets.add(here.on("error", () => undefined));
        if (isGoingDown) {
          isGoingDown = false;
          here.once("data", () => here.end("E"));
          return;
        }
        const there = open(target, "127.0.0.1").on("error", () => undefined);
        here.pipe(there).pipe(here);
        here.on("close", () => there.end());
      });
      await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
      closing.push(() => listener.close());
      url.port = String((listener.address() as { port: number }).port);
      const far = at(url.href, { clock: "caller", patienceMs: 20_000 });
      await far.createTask({ title: "before" }, agent());
      isGoingDown = true;
      for (const socket of sockets) socket.destroy();
      await far.createTask({ title: "after" }, agent());
      expect(isGoingDown).toBe(false);
    });

    it("to a commit: the change is made once", async () => {
      const url = tcp();
      const direct = at(url.href, { clock: "caller" });
      await direct.createEpic({ title: "e" }, agent());
      const proxy = await deafAfter("NOTIFY");
      url.port = String(proxy.port);
      const { id } = await at(url.href, { clock: "caller", patienceMs: 20_000 }).createTask({ title: "once" }, agent());
      expect(proxy.isUsed()).toBe(true);
      expect(await direct.listTasks({ limit: 9, at: agent().at })).toMatchObject({ total: 1, items: [{ id }] });
    });

    it("to a claim of the last task: it is not lost, although nothing is ready any more", async () => {
      const url = tcp();
      const direct = at(url.href, { clock: "caller" });
      const { id } = await direct.createTask({ title: "last" }, agent());
      const proxy = await deafAfter("claim_one");
      url.port = String(proxy.port);
      const far = at(url.href, { clock: "caller", patienceMs: 20_000 });
      expect(await far.claim({ leaseMs: LEASE_MS }, agent("far", 1))).toMatchObject({
        kind: "claimed",
        claim: { taskId: id },
      });
      expect(proxy.isUsed()).toBe(true);
    });

    it("to a claim of the next task: one task is taken", async () => {
      const url = tcp();
      const direct = at(url.href, { clock: "caller" });
      for (const title of ["a", "b", "c"]) await direct.createTask({ title }, agent());
      const proxy = await deafAfter("claim_one");
      url.port = String(proxy.port);
      const far = at(url.href, { clock: "caller", patienceMs: 20_000 });
      const outcome = await far.claim({ leaseMs: LEASE_MS }, agent("far", 1));
      expect(proxy.isUsed()).toBe(true);
      const claims = await direct.listClaims({ at: agent("ann", 1).at });
      expect(claims.map(({ taskId }) => taskId)).toEqual([outcome.kind === "claimed" && outcome.claim.taskId]);
    });
  });
});
