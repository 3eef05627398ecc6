/** A server with TLS and a certificate of the test's own. `openssl` makes it; without `openssl`, this is not tested. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { serverFault } from "../../packages/haversack/src/store/postgres/server.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(whyNoServer() || !hasOpenssl)("a server with TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "haversack-tls-"));
  let server: TestServer;

  beforeAll(async () => {
    const make = (...words: string[]) => {
      const { status, stderr } = spawnSync("openssl", words, { cwd: folder, encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
    };
    const key = (name: string) => ["-newkey", "rsa:2048", "-nodes", "-keyout", `${name}.key`, "-subj", `/CN=${name}`];
    for (const name of ["ca", "other"]) make("req", "-x509", ...key(name), "-out", `${name}.crt`, "-days", "2");
    make("req", ...key("localhost"), "-out", "localhost.csr");
    writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost");
    const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
    make("x509", "-req", "-in", "localhost.csr", ...signed, "-out", "localhost.crt");
    server = await startServer();
    const data = join(server.folder, "data");
    const { uid, gid } = statSync(data);
    for (const end of ["crt", "key"]) {
      const file = join(data, `server.${end}`);
      copyFileSync(join(folder, `localhost.${end}`), file);
      chownSync(file, uid, gid);
      chmodSync(file, 0o600);
    }
    const rules = join(data, "pg_hba.conf");
    writeFileSync(rules, readFileSync(rules, "utf8").replace(/^host /gm, "hostssl "));
    const db = await connect(readPlace(server.socketUrl, {}), { timeoutMs: 5000 });
    await db.exec("ALTER SYSTEM SET ssl = on");
    await db.close();
    // With the new settings, and ready when this returns.
    await server.kill();
    await server.start();
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Whether the connection is encrypted, or what a person is told. */
  async function says(host: string, options: Record<string, string>): Promise<string> {
    const url = new URL(server.url);
    url.hostname = host;
    for (const [name, value] of Object.entries(options)) url.searchParams.set(name, value);
    const place = readPlace(url.href, {});
    try {
      const db = await connect(place, { timeoutMs: 5000 });
      const [row] = await db.exec("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
      await db.close();
      return row?.["ssl"] === "true" ? "encrypted" : "plain";
    } catch (error) {
      const { message, hint } = serverFault(error, place.shown) as Error & { hint?: string };
      return `${message} ${hint}`;
    }
  }
  const ca = (name: string) => ({ sslrootcert: join(folder, `${name}.crt`) });

  it("is used encrypted where the mode allows it", async () => {
    expect(await says("127.0.0.1", {})).toBe("encrypted");
    expect(await says("127.0.0.1", { sslmode: "require" })).toBe("encrypted");
    expect(await says("127.0.0.1", { sslmode: "verify-ca", ...ca("ca") })).toBe("encrypted");
    expect(await says("localhost", { sslmode: "verify-full", ...ca("ca") })).toBe("encrypted");
  });

  it("is refused with the reason where it does not", async () => {
    expect(await says("127.0.0.1", { sslmode: "disable" })).toMatch(/does not let this user in.* no encryption.*TLS/);
    const unknown = /cannot be used with this sslmode: unable to verify the first certificate.*sslrootcert/;
    expect(await says("localhost", { sslmode: "verify-full" })).toMatch(unknown);
    expect(await says("localhost", { sslmode: "require", ...ca("other") })).toMatch(unknown);
    const otherName = /cannot be used with this sslmode: Hostname\/IP does not match .*, and use the host name in the/;
    expect(await says("127.0.0.1", { sslmode: "verify-full", ...ca("ca") })).toMatch(otherName);
  });
});
