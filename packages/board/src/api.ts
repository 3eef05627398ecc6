/** Asks the board's server. A refusal or fault becomes an `ApiError` with the server's words. */
import { useEffect, useRef, useState } from "preact/hooks";

export class ApiError extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/**
 * The address contains the token. It is saved for reloads and other tabs, and removed from the address, because screenshots and the history show
 * that. Storage belongs to this port alone; a cookie would be sent to every server on this machine.
 */
const given = new URLSearchParams(location.search).get("token");
if (given !== null) localStorage.setItem("token", given);
if (location.search !== "") history.replaceState(null, "", `/${location.hash}`);
const authorization = `Bearer ${localStorage.getItem("token") ?? ""}`;

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const headers = { authorization };
  return answerOf<T>(await fetch(`/api/${path}`, { headers, ...(signal && { signal }) }).catch(unreachable));
}

export async function post<T = { id?: string; refused?: string }>(path: string, body: object = {}): Promise<T> {
  const headers = { authorization, "content-type": "application/json" };
  return answerOf<T>(
    await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }).catch(unreachable),
  );
}

function unreachable(error: unknown): never {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  throw new ApiError("The board's server does not answer. Is `haversack board` still running?", 0);
}

async function answerOf<T>(response: Response): Promise<T> {
  // A body that is cut off, for example by an abort, is an error, not an empty answer.
  if (response.ok) return (await response.json().catch(unreachable)) as T;
  if (response.status === 401) became("refused");
  const value = await response.json().catch(() => ({ error: response.statusText }));
  const { error, hint } = value as { error?: string; hint?: string };
  throw new ApiError([error ?? "the server failed", hint].map(sentence).join(" ").trim(), response.status);
}

/** The server's texts are those of the command line: a phrase without a full stop. */
function sentence(text = ""): string {
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}

type Listener = () => void;
const listeners = new Set<Listener>();
/** `refused`: the token is missing, or of a board that has ended. */
type Connection = "live" | "lost" | "refused";
let state: Connection = "live";
const stateListeners = new Set<(now: Connection) => void>();

function became(now: Connection): void {
  if (state === now) return;
  state = now;
  for (const tell of stateListeners) tell(now);
}

const AGAIN_MS = 1_000;

/** One stream of changes for the whole page, connected again when it breaks. `EventSource` cannot send a header. */
export async function connect(): Promise<void> {
  for (;;) {
    await follow().catch(() => undefined);
    if (state === "refused") return;
    became("lost");
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

async function follow(): Promise<void> {
  const response = await fetch("/api/events", { headers: { authorization } });
  if (response.status === 401) became("refused");
  if (!response.ok || !response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    became("live");
    // Lines are short and written at once. If one is cut off, the next one has the same meaning.
    if (part.value.includes("event: changed")) for (const tell of listeners) tell();
  }
}

export function useConnection(): Connection {
  const [now, setNow] = useState(state);
  useEffect(() => {
    stateListeners.add(setNow);
    setNow(state);
    return () => void stateListeners.delete(setNow);
  }, []);
  return now;
}

export interface Live<T> {
  value?: T;
  error?: string;
  /** Asks again. Resolves when an answer to a request made after this call is shown, or the request has failed. */
  refresh(): Promise<void>;
}

/** The minimum time between two requests for the same data while it changes. */
const PAUSE_MS = 250;

/** The answer to a request, asked again when the project changes. One request at a time. */
export function useLive<T>(path: string | undefined): Live<T> {
  const [answer, setAnswer] = useState<{ path?: string | undefined; value?: T; error?: string }>({});
  const ask = useRef(() => Promise.resolve());
  useEffect(() => {
    if (path === undefined) return;
    const aborted = new AbortController();
    let isAsking = false;
    let isStale = false;
    let waiting: (() => void)[] = [];
    const load = async () => {
      if (isAsking) {
        isStale = true;
        return;
      }
      isAsking = true;
      isStale = false;
      const asked = waiting;
      waiting = [];
      try {
        const value = await get<T>(path, aborted.signal);
        if (!aborted.signal.aborted) setAnswer({ path, value });
      } catch (error) {
        if (!aborted.signal.aborted)
          setAnswer((before) => ({ ...(before.path === path ? before : { path }), error: (error as Error).message }));
      }
      for (const tell of asked) tell();
      if (aborted.signal.aborted) return;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      isAsking = false;
      if (isStale && !aborted.signal.aborted) void load();
    };
    const listen = () => void load();
    ask.current = () => {
      const answered = new Promise<void>((done) => waiting.push(done));
      listen();
      return answered;
    };
    listeners.add(listen);
    void load();
    return () => {
      listeners.delete(listen);
      aborted.abort();
      for (const tell of waiting) tell();
    };
  }, [path]);
  const { value, error } = answer.path === path ? answer : {};
  return {
    ...(value !== undefined && { value }),
    ...(error !== undefined && { error }),
    refresh: () => ask.current(),
  };
}

/** Re-renders once a second, for clocks. */
export function useClock(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
