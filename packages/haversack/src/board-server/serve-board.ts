/**
 * The board's HTTP server. It listens on 127.0.0.1 only. The page and its script are the same for everybody; every request for data needs the token
 * of the address that was printed, in a header. A cookie would not be safe, because browsers send it to every port of this machine, and so to pages
 * that another user serves. Requests from other pages are refused, based on their Host, their Origin and the browser's Sec-Fetch-Site header.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ServerType, serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { errorText, HaversackError, isFault } from "../base/errors.ts";
import { BoardData, type BoardSources, type Fields } from "./board-data.ts";
import { COLUMNS, type Column } from "./board-types.ts";

export interface BoardOptions {
  /** Where the page's files are. */
  assets: string;
  /** Default: any free one. */
  port?: number;
  /** Faults that are ours, not the page's. */
  log(text: string): void;
}

export interface Board {
  /** With the token. */
  url: string;
  port: number;
  close(): Promise<void>;
}

/** How often changes are checked for while a page is open; a page is not told more often than this. */
const LOOK_MS = 150;
/** Tells whether the page is still there. */
const ALIVE_MS = 15_000;
const MOST_BODY = 1_000_000;
const MOST_CARDS = 2_000;

export async function serveBoard(sources: BoardSources, { assets, port = 0, log }: BoardOptions): Promise<Board> {
  const token = randomBytes(24).toString("base64url");
  const data = new BoardData(sources);
  const changes = new Changes(data, log);
  const closing = new AbortController();
  let at = 0;
  const app = new Hono();

  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    const host = c.req.header("host") ?? "";
    // Refuses other host names, even if they resolve to this machine.
    if (host !== `127.0.0.1:${at}` && host !== `localhost:${at}`)
      return c.text("This is not the board's address.", 403);
    if (!isOwnPage(c, `http://${host}`)) return c.text("The board takes no requests from other pages.", 403);
    return next();
  });

  const file = (name: string, type: string) => {
    const body = readFileSync(join(assets, name));
    return (c: Context) => c.body(body, 200, { "content-type": type, "cache-control": "no-cache" });
  };
  app.get("/app.js", file("app.js", "text/javascript; charset=utf-8"));
  app.get("/charts.js", file("charts.js", "text/javascript; charset=utf-8"));
  app.get("/app.css", file("app.css", "text/css; charset=utf-8"));
  app.get("/icon.svg", file("icon.svg", "image/svg+xml"));
  const page = readFileSync(join(assets, "index.html"), "utf8");

  app.get("/", (c) => {
    const given = c.req.query("token");
    return given === undefined || isSame(given, token) ? c.html(page) : c.html(WRONG_TOKEN, 401);
  });

  const api = new Hono();
  api.use(async (c, next) => {
    if (!isSame((c.req.header("authorization") ?? "").replace(/^Bearer /, ""), token))
      return c.json({ error: "no token: open the address that was printed" }, 401);
    return next();
  });
  const isTooLong = (c: Context) => {
    // The rest of the body is not read, so the connection cannot be used again.
    c.header("connection", "close");
    return c.json({ error: "the text is too long for the board" }, 413);
  };
  api.use(bodyLimit({ maxSize: MOST_BODY, onError: isTooLong }));
  api.get("/board", async (c) => c.json(await data.board(scopeOf(c), limitsOf(c))));
  api.get("/project", async (c) => c.json(await data.project()));
  api.get("/groups", async (c) => c.json(await data.groups(c.req.query("kind") === "story" ? "story" : "epic")));
  api.get("/audit", (c) => c.json(data.audit()));
  api.post("/audit", async (c) => c.json(data.startAudit(await bodyOf(c)), 202));
  api.get("/find", async (c) => c.json(await data.find(c.req.query("text") ?? "")));
  api.get("/ready", async (c) => c.json(await data.ready(scopeOf(c))));
  api.get("/agents", async (c) => c.json(await data.agents()));
  api.get("/runs", async (c) => c.json(await data.runs()));
  api.get("/runs/:id", async (c) => c.json(await data.run(c.req.param("id"))));
  api.post("/runs/:id/stop", async (c) => c.json(await data.stopRun(c.req.param("id"), await bodyOf(c))));
  api.get("/skills", async (c) => c.json(await data.skills()));
  api.post("/try", async (c) => c.json(await data.tryPrompt(String((await bodyOf(c))["prompt"] ?? ""))));
  api.get("/savings", async (c) => c.json(await data.savings()));
  api.get("/tasks/:id", async (c) => c.json(await data.task(c.req.param("id"))));
  api.post("/tasks", async (c) => c.json(await data.create(await bodyOf(c)), 201));
  api.post("/tasks/:id", async (c) => c.json(await data.update(c.req.param("id"), await bodyOf(c))));
  api.post("/tasks/:id/status", async (c) => c.json(await data.setStatus(c.req.param("id"), await bodyOf(c))));
  api.post("/tasks/:id/claim", async (c) => c.json(await data.claim(c.req.param("id"))));
  api.post("/tasks/:id/release", async (c) => c.json(await data.release(c.req.param("id"))));
  api.post("/messages", async (c) => c.json(await data.send(await bodyOf(c)), 201));
  api.get("/events", (c) =>
    streamSSE(c, async (stream) => {
      const stop = changes.listen((version) => void stream.writeSSE({ event: "changed", data: version }));
      const alive = setInterval(() => void stream.writeSSE({ event: "alive", data: "" }), ALIVE_MS);
      // The first answer tells the page that it is connected.
      await stream.writeSSE({ event: "changed", data: "0" });
      await new Promise<void>((done) => {
        stream.onAbort(done);
        closing.signal.addEventListener("abort", () => done());
      });
      clearInterval(alive);
      stop();
    }),
  );
  app.route("/api", api);
  app.notFound((c) => c.json({ error: "there is nothing here" }, 404));
  app.onError((error, c) => {
    const { status, isOurs } = statusOf(error);
    if (isOurs) log(errorText(error));
    const hint = error instanceof HaversackError && error.hint !== undefined ? { hint: error.hint } : {};
    return c.json({ error: errorText(error), ...hint }, status);
  });

  const server = await listening((done, failed) => {
    const made = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (info) => {
      at = info.port;
      done(made);
    });
    made.on("error", failed);
    return made;
  }, port);
  return {
    url: `http://127.0.0.1:${at}/?token=${token}`,
    port: at,
    close: () => {
      closing.abort();
      changes.close();
      return new Promise((done) => {
        server.close(() => done());
        // Open event streams never end by themselves.
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const WRONG_TOKEN = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Haversack board</title>
<link rel="stylesheet" href="/app.css"><main class="page"><h1>The token in this address is wrong</h1><p>Open the whole address that <code>haversack board</code> printed in the terminal. Each start has its own.</p></main></html>`;

function isOwnPage(c: Context, own: string): boolean {
  const site = c.req.header("sec-fetch-site");
  const isVisit = c.req.method === "GET" && c.req.path === "/";
  // A link in a mail or another page may open the board, but not request its data.
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isVisit) return false;
  if (c.req.method === "GET" || c.req.method === "HEAD") return true;
  return c.req.header("origin") === own && (c.req.header("content-type") ?? "").startsWith("application/json");
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function scopeOf(c: Context): { epic: string | undefined; story: string | undefined } {
  return { epic: c.req.query("epic") || undefined, story: c.req.query("story") || undefined };
}

/** `?done=300`: more cards of that column. */
function limitsOf(c: Context): Partial<Record<Column, number>> {
  const limits: Partial<Record<Column, number>> = {};
  for (const status of COLUMNS) {
    const value = Number(c.req.query(status) ?? 0);
    if (Number.isInteger(value) && value > 0) limits[status] = Math.min(value, MOST_CARDS);
  }
  return limits;
}

async function bodyOf(c: Context): Promise<Fields> {
  const text = await c.req.text();
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {
    // Told below.
  }
  throw new HaversackError("input-invalid", "the request is not a JSON object");
}

function statusOf(error: unknown): { status: 400 | 404 | 409 | 500 | 503; isOurs: boolean } {
  if (isFault(error, "not-found")) return { status: 404, isOurs: false };
  if (isFault(error, "input-invalid") || isFault(error, "usage")) return { status: 400, isOurs: false };
  if (isFault(error, "refused")) return { status: 409, isOurs: false };
  // A store that is locked, full or gone may come back.
  return { status: isFault(error) ? 503 : 500, isOurs: true };
}

function listening(
  start: (done: (server: ServerType) => void, failed: (error: Error) => void) => ServerType,
  port: number,
): Promise<ServerType> {
  return new Promise((done, failed) => {
    start(done, (error) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") return failed(error);
      const why = code === "EACCES" ? "may not be used" : "is in use";
      const hint = "leave --port out to get a free one";
      return failed(new HaversackError("usage", `port ${port} ${why}`, { hint }));
    });
  });
}

/** Looks for changes while at least one page listens. */
class Changes {
  readonly #data: BoardData;
  readonly #log: (text: string) => void;
  readonly #listeners = new Set<(version: string) => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen = "";

  constructor(data: BoardData, log: (text: string) => void) {
    this.#data = data;
    this.#log = log;
  }

  listen(listener: (version: string) => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    // A deleted store is a change too: the page asks and shows the answer.
    const version = await this.#data.version().catch((error: unknown) => {
      const text = errorText(error);
      if (text !== this.#seen) this.#log(text);
      return text;
    });
    if (version !== this.#seen) for (const tell of this.#listeners) tell(version);
    this.#seen = version;
    this.#timer = this.#listeners.size === 0 ? undefined : setTimeout(() => void this.#look(), LOOK_MS);
  }
}
