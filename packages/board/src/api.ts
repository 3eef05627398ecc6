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

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf<T>(await fetch(`/api/${path}`, signal ? { signal } : {}).catch(unreachable));
}

export async function post<T = { id?: string; refused?: string }>(path: string, body: object = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return answerOf<T>(
    await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }).catch(unreachable),
  );
}

function unreachable(error: unknown): never {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  throw new ApiError("The board's server does not answer. Is `haversack board` still running?", 0);
}

async function answerOf<T>(response: Response): Promise<T> {
  const value = await response.json().catch(() => ({ error: response.statusText }));
  if (response.ok) return value as T;
  const { error, hint } = value as { error?: string; hint?: string };
  throw new ApiError([error ?? "The server failed.", hint].filter(Boolean).join(" "), response.status);
}

type Listener = () => void;
const listeners = new Set<Listener>();
let state: "live" | "lost" = "live";
const stateListeners = new Set<(now: "live" | "lost") => void>();

/** One stream for the whole page. The browser connects again by itself. */
export function connect(): void {
  const events = new EventSource("/api/events");
  const became = (now: "live" | "lost") => {
    if (state === now) return;
    state = now;
    for (const tell of stateListeners) tell(now);
  };
  events.addEventListener("changed", () => {
    became("live");
    for (const tell of listeners) tell();
  });
  events.addEventListener("error", () => became("lost"));
}

export function useConnection(): "live" | "lost" {
  const [now, setNow] = useState(state);
  useEffect(() => {
    stateListeners.add(setNow);
    return () => void stateListeners.delete(setNow);
  }, []);
  return now;
}

export interface Live<T> {
  value?: T;
  error?: string;
  /** Ask again now. */
  refresh(): void;
}

/** The least time between two requests for the same data while it changes. */
const PAUSE_MS = 250;

/** The answer to a request, asked again when the project changes. One request at a time. */
export function useLive<T>(path: string | undefined, { isLive = true } = {}): Live<T> {
  const [answer, setAnswer] = useState<{ path?: string | undefined; value?: T; error?: string }>({});
  const ask = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (path === undefined) return;
    const aborted = new AbortController();
    let isAsking = false;
    let isStale = false;
    const load = async () => {
      if (isAsking) {
        isStale = true;
        return;
      }
      isAsking = true;
      isStale = false;
      try {
        const value = await get<T>(path, aborted.signal);
        setAnswer({ path, value });
      } catch (error) {
        if (aborted.signal.aborted) return;
        setAnswer((before) => ({ ...(before.path === path ? before : { path }), error: (error as Error).message }));
      }
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      isAsking = false;
      if (isStale && !aborted.signal.aborted) void load();
    };
    const listen = () => void load();
    ask.current = listen;
    if (isLive) listeners.add(listen);
    void load();
    return () => {
      listeners.delete(listen);
      aborted.abort();
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
