/** One task with everything around it. */
import { useState } from "preact/hooks";
import { post, useClock, useLive } from "./api.ts";
import { AskReason, ago, Lease, Panel, Problem, STATUS_NAMES } from "./parts.tsx";
import type { Brief, TaskView } from "./types.ts";

export function TaskPanel({ id, onOpen, onClose }: { id: string; onOpen(id: string): void; onClose(): void }) {
  const { value: task, error, refresh } = useLive<TaskView>(`tasks/${encodeURIComponent(id)}`);
  const [refusal, setRefusal] = useState<string>();
  const now = useClock();
  const act = async (path: "" | "/status" | "/claim" | "/release", body: object = {}) => {
    try {
      setRefusal((await post(`tasks/${encodeURIComponent(id)}${path}`, body)).refused);
    } catch (fault) {
      setRefusal((fault as Error).message);
    }
    refresh();
  };
  const [isAsked, setAsked] = useState(false);
  const setStatus = (status: string) => {
    if (status === "blocked") setAsked(true);
    else void act("/status", { status });
  };
  return (
    <Panel title={`Task ${id}`} onClose={onClose}>
      <Problem text={refusal ?? error} />
      {isAsked && (
        <AskReason
          id={id}
          onDone={(notes) => {
            setAsked(false);
            if (notes === undefined) refresh();
            else void act("/status", { status: "blocked", notes });
          }}
        />
      )}
      {!task && !error && <p class="quiet">Loading…</p>}
      {task && (
        <>
          <p class="panel-head">
            <span class="id">{task.id}</span> <span class="tag">{task.task_type}</span>
            {(task.story_id ?? task.epic_id) && <span class="id quiet">in {task.story_id ?? task.epic_id}</span>}
          </p>
          <h2 class="panel-title" dir="auto">
            {task.title}
          </h2>
          <div class="row">
            <label>
              Status{" "}
              <select value={task.status} onChange={(event) => setStatus(event.currentTarget.value)}>
                {Object.entries(STATUS_NAMES).map(([status, name]) => (
                  <option key={status} value={status}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Priority{" "}
              <select value={task.priority} onChange={(event) => void act("", { priority: event.currentTarget.value })}>
                {["P0", "P1", "P2", "P3"].map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
            {task.claim ? (
              <>
                <span>
                  {task.claim.agent} <Lease until={task.claim.lease_until} />
                </span>
                <button type="button" onClick={() => void act("/release")}>
                  Release
                </button>
              </>
            ) : (
              task.status === "todo" && (
                <button type="button" onClick={() => void act("/claim")}>
                  Claim
                </button>
              )
            )}
          </div>
          <Text title="Note" text={task.note} />
          <List title="Blocked by" items={task.blockers} />
          <Text title="Description" text={task.description} />
          <Text title="Acceptance criteria" text={task.acceptance_criteria} />
          {task.steps && task.steps.length > 0 && (
            <section>
              <h3>Steps</h3>
              <ul class="steps">
                {task.steps.map(({ text, done }) => (
                  <li key={text} class={done ? "done" : ""}>
                    <span aria-hidden="true">{done ? "✓" : "○"}</span> {text}
                    {done && <span class="hidden"> (done)</span>}
                  </li>
                ))}
              </ul>
            </section>
          )}
          <Tasks title="Waits for" tasks={task.waits_for} onOpen={onOpen} />
          <Tasks title="Needed by" tasks={task.waited_for_by} onOpen={onOpen} />
          <Tasks title="Related" tasks={task.relates_to} onOpen={onOpen} />
          <Tasks title="Sub-tasks" tasks={task.sub_tasks} onOpen={onOpen} />
          <List title="Files" items={task.files} isCode />
          <Text title="Skill" text={task.skill} />
          {task.wip !== undefined && (
            <section>
              <h3>
                Work in progress {task.wip_updated_at && <span class="quiet">{ago(task.wip_updated_at, now)}</span>}
              </h3>
              <Tree value={task.wip} />
            </section>
          )}
          {task.handoffs.length > 0 && (
            <section>
              <h3>Handoffs</h3>
              {task.handoffs.map(({ id: key, role, attempt, status, summary, files_changed }) => (
                <article key={key} class="handoff" aria-label={`Handoff of ${role} ${attempt}`}>
                  <strong>
                    {role} {attempt}
                  </strong>{" "}
                  <span class={`verdict ${status.toLowerCase()}`}>{status}</span>
                  <p class="text" dir="auto">
                    {summary}
                  </p>
                  {files_changed && <p class="quiet">{files_changed.join(", ")}</p>}
                </article>
              ))}
            </section>
          )}
          <section>
            <h3>History</h3>
            <ol class="history">
              {task.activity.map(({ at, actor, kind, text }) => (
                <li key={`${at}${kind}${text}`}>
                  <time dateTime={at}>{ago(at, now)}</time> <strong>{actor}</strong> <bdi>{text || kind}</bdi>
                </li>
              ))}
            </ol>
          </section>
        </>
      )}
    </Panel>
  );
}

function Text({ title, text }: { title: string; text: string | undefined }) {
  return text === undefined ? null : (
    <section>
      <h3>{title}</h3>
      <p class="text" dir="auto">
        {text}
      </p>
    </section>
  );
}

function List({
  title,
  items = [],
  isCode = false,
}: {
  title: string;
  items?: string[] | undefined;
  isCode?: boolean;
}) {
  return items.length === 0 ? null : (
    <section>
      <h3>{title}</h3>
      <ul class="plain">
        {items.map((item) => (
          <li key={item}>{isCode ? <code>{item}</code> : <bdi>{item}</bdi>}</li>
        ))}
      </ul>
    </section>
  );
}

function Tasks({
  title,
  tasks = [],
  onOpen,
}: {
  title: string;
  tasks?: Brief[] | undefined;
  onOpen(id: string): void;
}) {
  return tasks.length === 0 ? null : (
    <section>
      <h3>{title}</h3>
      <ul class="plain">
        {tasks.map(({ id, title: name, status }) => (
          <li key={id}>
            <button type="button" class="link" onClick={() => onOpen(id)}>
              {id} <bdi>{name}</bdi>
            </button>{" "}
            <span class="quiet">{STATUS_NAMES[status] ?? status}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A value of any shape as nested lists. */
function Tree({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return <span class="text">{String(value)}</span>;
  if (Array.isArray(value)) {
    return (
      <ul class="plain tree">
        {value.map((item, at) => (
          <li key={at}>
            <Tree value={item} />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <dl class="tree">
      {Object.entries(value)
        // The heading says it.
        .filter(([key]) => key !== "updated_at")
        .map(([key, item]) => (
          <div key={key}>
            <dt>{key.replaceAll("_", " ")}</dt>
            <dd>
              <Tree value={item} />
            </dd>
          </div>
        ))}
    </dl>
  );
}
