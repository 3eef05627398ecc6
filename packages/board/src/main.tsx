/** The page: one view at a time, chosen by the address, and a task's panel above it. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connect, useConnection, useLive } from "./api.ts";
import { Audit } from "./audit.tsx";
import { Board } from "./board.tsx";
import { localTime } from "./parts.tsx";
import { Agents, Queue } from "./people.tsx";
import { Runs } from "./runs.tsx";
import { Savings } from "./savings.tsx";
import { Skills } from "./skills.tsx";
import { TaskPanel } from "./task.tsx";
import type { ProjectView } from "./types.ts";

const VIEWS = {
  board: "Board",
  queue: "Queue",
  agents: "Agents",
  runs: "Runs",
  skills: "Skills",
  savings: "Savings",
  audit: "Audit",
};
type ViewName = keyof typeof VIEWS;

interface Place {
  view: ViewName;
  task?: string;
}

/** `#runs`, or `#board/T4829` with a task open. */
function readPlace(): Place {
  const [name = "", task] = decodeURIComponent(location.hash.slice(1)).split("/");
  const view = name in VIEWS ? (name as ViewName) : "board";
  return { view, ...(task && { task }) };
}

function App() {
  const [place, setPlace] = useState(readPlace);
  const { name: project = "", offline } = useLive<ProjectView>("project").value ?? {};
  const connection = useConnection();
  useEffect(() => {
    const read = () => setPlace(readPlace());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  useEffect(() => {
    const link = document.querySelector<HTMLElement>("nav [aria-current]");
    const nav = link?.parentElement;
    // `scrollIntoView` would move the starting point of the Tab key in Chromium: Tab would miss "Skip to content".
    if (link && nav)
      nav.scrollLeft = Math.max(0, link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2);
  }, [place.view]);
  useEffect(() => {
    document.title = `${project === "" ? "" : `${project}: `}${VIEWS[place.view]} · Haversack`;
  }, [project, place.view]);
  /** `location.hash` is not used, because Chromium then looks for an element of that name and removes the focus if there is none. */
  const go = ({ view, task }: Place) => {
    history.pushState(null, "", `#${view}${task === undefined ? "" : `/${encodeURIComponent(task)}`}`);
    setPlace(readPlace());
  };
  const open = (task: string) => go({ view: place.view, task });
  if (connection === "refused") return <NoToken />;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <img src="/icon.svg" alt="" width="22" height="22" />
        <strong class="name" title={project}>
          {project || "Haversack"}
        </strong>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([view, name]) => (
            <a key={view} href={`#${view}`} {...(view === place.view && { "aria-current": "page" as const })}>
              {name}
            </a>
          ))}
        </nav>
        <Theme />
      </header>
      {connection === "lost" && (
        <p class="problem" role="alert">
          No connection to <code>haversack board</code>: it has ended, or is busy. What you see may be old. If you start
          it again, open the address that it prints.
        </p>
      )}
      {offline && (
        <p class="problem" role="alert">
          The shared store cannot be reached.{" "}
          {offline.snapshot_at && `What you see is as it was at ${localTime(offline.snapshot_at)}. `}
          Changes are sent when it is back
          {offline.waiting > 0 && `: ${offline.waiting} ${offline.waiting === 1 ? "waits" : "wait"}`}.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {place.view === "board" && <Board onOpen={open} />}
        {place.view === "queue" && <Queue onOpen={open} />}
        {place.view === "agents" && <Agents onOpen={open} />}
        {place.view === "runs" && <Runs onOpen={open} />}
        {place.view === "skills" && <Skills />}
        {place.view === "savings" && <Savings />}
        {place.view === "audit" && <Audit />}
      </main>
      {place.task && (
        <TaskPanel key={place.task} id={place.task} onOpen={open} onClose={() => go({ view: place.view })} />
      )}
    </>
  );
}

function NoToken() {
  return (
    <main class="page">
      <h1>The token is missing or old</h1>
      <p>
        Open the whole address that <code>haversack board</code> printed in the terminal. Each start has its own.
      </p>
    </main>
  );
}

function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const next = theme === "auto" ? "dark" : theme === "dark" ? "light" : "auto";
  return (
    <button
      type="button"
      class="theme"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
      onClick={() => setTheme(next)}
    >
      {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
    </button>
  );
}

void connect();
const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App />, root);
}
