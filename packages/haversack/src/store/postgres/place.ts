/** Where a shared store is: the URL of its database, as `psql` takes it, and the project's schema in it. */
import { readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { ClientConfig } from "pg";
import { HaversackError } from "../../base/errors.ts";

export interface Place {
  server: ClientConfig;
  /** The kinds of connection to try, in this order. */
  ssl: readonly (false | object)[];
  /** The schema that holds the project's tables. */
  schema: string;
  /** The name that the schema stands for. */
  project: string;
  /** For messages: without a password. `store use` takes it too. */
  shown: string;
  /** The address without user, password and the kind of connection. Two spellings of one server have two keys. */
  key: string;
  /** The address has a password in it. */
  hasPassword: boolean;
}

const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

const PARAMETERS = ["project", "host", "port", "user", "password", "sslmode", "sslrootcert", "sslcert", "sslkey"];
/** Other parameters that `psql` takes. Addresses of hosted databases have them; they change nothing here. */
// biome-ignore format: a list of words.
const LIBPQ = new Set([
  "application_name", "channel_binding", "client_encoding", "connect_timeout", "fallback_application_name", "gssencmode",
  "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "options", "pgbouncer", "pool_timeout",
  "require_auth", "sslcompression", "sslcrl", "sslnegotiation", "sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version",
  "target_session_attrs", "tcp_user_timeout",
]);

/** `project` in the URL names the project; many projects may share one database. */
export function readPlace(url: string, env: Readonly<Record<string, string | undefined>> = process.env): Place {
  const found = parse(url);
  const { searchParams: given } = found;
  const unknown = [...given.keys()].find((name) => !PARAMETERS.includes(name) && !LIBPQ.has(name));
  if (unknown !== undefined) {
    // With "@", it may be a part of the password: `u:12?34@host`.
    const which = found.search.includes("@") ? "" : ` ${JSON.stringify(unknown)}`;
    throw new HaversackError("input-invalid", `the store's address has an unknown parameter${which}`, {
      hint: `it takes ${PARAMETERS.join(", ")}`,
    });
  }
  const project = given.get("project") ?? "main";
  if (!/^[a-z][a-z0-9_-]{0,40}$/.test(project)) {
    throw invalid(`project must be lower-case letters, digits, "_" and "-", but is ${JSON.stringify(project)}`);
  }
  const host = given.get("host") ?? (decodeURIComponent(found.hostname) || env["PGHOST"] || "localhost");
  const port = Number(given.get("port") ?? (found.port || env["PGPORT"] || 5432));
  const user = decodeURIComponent(found.username) || given.get("user") || env["PGUSER"] || userInfo().username;
  const password = decodeURIComponent(found.password) || given.get("password");
  const database = decodeURIComponent(found.pathname.slice(1)) || env["PGDATABASE"] || user;
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  // As a function, so that `pg` does not look for one itself: it warns about ~/.pgpass on every connection.
  const findPassword = () => password || env["PGPASSWORD"] || fromFile([bare, String(port), database, user], env) || "";
  const schema = `haversack_${project.replaceAll("-", "_")}`;
  return {
    server: { host: bare, port, user, database, password: findPassword },
    ssl: bare.startsWith("/") ? [false] : sslKinds(given, env),
    schema,
    project,
    shown: addressOf({ host, port, user, database, project }),
    key: JSON.stringify([bare.startsWith("/") ? bare : bare.toLowerCase(), port, database, schema]),
    hasPassword: Boolean(password),
  };
}

/** The password of the first line in ~/.pgpass that fits: host, port, database, user. The file must be closed to others, as for `psql`. */
function fromFile(wanted: readonly string[], env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env["PGPASSFILE"] || (env["HOME"] && join(env["HOME"], ".pgpass"));
  if (!path) return undefined;
  let text: string;
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) {
      throw new HaversackError("refused", `${path} can be read by others, so it is not used`, {
        hint: `run \`chmod 600 ${path}\``,
      });
    }
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof HaversackError) throw error;
    return undefined;
  }
  const [host = "", ...others] = wanted;
  const places = [host.startsWith("/") ? "localhost" : host, ...others];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    // `\:` and `\\` are the characters themselves.
    const fields = [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, field = ""]) => field);
    const fits = places.every((place, index) => fields[index] === "*" || unescaped(fields[index]) === place);
    if (fits && fields[places.length]) return unescaped(fields[places.length]);
  }
  return undefined;
}

function unescaped(field: string | undefined): string | undefined {
  return field?.replace(/\\(.)/g, "$1");
}

interface Address {
  host: string;
  port: number;
  user: string;
  database: string;
  project: string;
}

/** Without a password. */
function addressOf({ host, port, user, database, project }: Address): string {
  const named = project === "main" ? [] : [`project=${project}`];
  const words = (list: readonly string[]) => (list.length > 0 ? `?${list.join("&")}` : "");
  const name = encodeURIComponent(database);
  // A socket is a folder, which cannot be the host of a URL.
  if (host.startsWith("/"))
    return `postgres:///${name}${words([`host=${host}`, `port=${port}`, `user=${encodeURIComponent(user)}`, ...named])}`;
  return `postgres://${encodeURIComponent(user)}@${host}:${port}/${name}${words(named)}`;
}

/** The same place for another user. */
export function addressFor({ server, project }: Place, user: string): string {
  const { host = "localhost", port = 5432, database = "" } = server;
  return addressOf({ host: host.includes(":") ? `[${host}]` : host, port, user, database, project });
}

function parse(url: string): URL {
  try {
    const found = new URL(url);
    if (found.protocol === "postgres:" || found.protocol === "postgresql:") return found;
  } catch {
    // The text of the error would repeat the URL, and with it the password.
  }
  throw invalid("the store's address must be a URL such as postgres://user@host/database");
}

function invalid(text: string): HaversackError {
  return new HaversackError("input-invalid", text);
}

/** As `psql` does: `prefer` is the default, and only `verify-…` checks the certificate. */
function sslKinds(given: URLSearchParams, env: Readonly<Record<string, string | undefined>>): Place["ssl"] {
  const option = (name: string) => given.get(name) ?? env[`PG${name.toUpperCase()}`];
  const mode = option("sslmode") ?? "prefer";
  if (!SSL_MODES.includes(mode)) throw invalid(`sslmode must be one of ${SSL_MODES.join(", ")}, but is ${mode}`);
  if (mode === "disable") return [false];
  const file = (name: string, usual: string) => {
    const path = option(name);
    // The roots that Node knows.
    if (path === "system") return undefined;
    try {
      if (path) return readFileSync(path, "utf8");
      return env["HOME"] ? readFileSync(join(env["HOME"], ".postgresql", usual), "utf8") : undefined;
    } catch {
      if (!path) return undefined;
      throw new HaversackError("file-unreadable", `${name} ${path} cannot be read`);
    }
  };
  const ca = file("sslrootcert", "root.crt");
  const cert = file("sslcert", "postgresql.crt");
  const key = file("sslkey", "postgresql.key");
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  if (mode === "verify-full") return [{ ...files, rejectUnauthorized: true }];
  // A root certificate makes `require` check the chain, but not the host's name.
  if (mode === "verify-ca" || (mode === "require" && ca))
    return [{ ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined }];
  const unchecked = { ...files, rejectUnauthorized: false };
  if (mode === "require") return [unchecked];
  return mode === "allow" ? [false, unchecked] : [unchecked, false];
}
