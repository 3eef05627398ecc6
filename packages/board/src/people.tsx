/** The ready queue, who holds what, and the messages between agents. */
import { useState } from "preact/hooks";
import { post, useClock, useLive } from "./api.ts";
import { ago, Empty, fieldsOf, Lease, Page, Priority, Problem, whole } from "./parts.tsx";
import type { AgentsView, TaskView } from "./types.ts";

export function Queue({ onOpen }: { onOpen(id: string): void }) {
  const { value, error } = useLive<{ ready: number; tasks: TaskView[] }>("ready");
  if (!value) return <Page title="Ready, in order" error={error} />;
  return (
    <Page title="Ready, in order" error={error}>
      {value.tasks.length === 0 && <Empty>No task is ready: all are done, taken, blocked or waiting.</Empty>}
      <ol class="queue">
        {value.tasks.map(({ id, title, priority = "", task_type, files = [] }) => (
          <li key={id}>
            <button type="button" class="line" onClick={() => onOpen(id)}>
              <span class="id">{id}</span> <Priority value={priority} />{" "}
              <span class="grow" dir="auto">
                {title}
              </span>{" "}
              <span class="quiet">
                {task_type}
                {files.length > 0 && `, ${files.length} ${files.length === 1 ? "file" : "files"}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {value.ready > value.tasks.length && <p class="quiet">and {whole(value.ready - value.tasks.length)} more</p>}
    </Page>
  );
}

/** The messages below them should not be far away. */
const FIRST_CLAIMS = 20;

export function Agents({ onOpen }: { onOpen(id: string): void }) {
  const { value, error, refresh } = useLive<AgentsView>("agents");
  const now = useClock();
  const [isAll, setAll] = useState(false);
  if (!value) return <Page title="Claims" error={error} />;
  const claims = isAll ? value.claims : value.claims.slice(0, FIRST_CLAIMS);
  return (
    <Page title="Claims" error={error}>
      {value.claims.length === 0 && <Empty>Nobody holds a task.</Empty>}
      <ul class="queue">
        {claims.map(({ task_id, title, agent, claimed_at, lease_until }) => (
          <li key={task_id}>
            <button type="button" class="line" onClick={() => onOpen(task_id)}>
              <span class="id">{task_id}</span> <span>{agent}</span>{" "}
              <span class="grow" dir="auto">
                {title}
              </span>{" "}
              <span class="quiet">for {ago(claimed_at, now).replace(" ago", "")}</span> <Lease until={lease_until} />
            </button>
          </li>
        ))}
      </ul>
      {value.claims.length > claims.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {whole(value.claims.length - claims.length)} more
        </button>
      )}
      <h2 class="part">Agents and messages</h2>
      {value.agents.length === 0 && (
        <Empty>
          No agent has a name yet. <code>haversack agent add NAME</code> gives one.
        </Empty>
      )}
      {value.agents.map(({ name, role, branch, message_count, messages }) => (
        <article key={`${name}@${branch ?? ""}`} class="agent" aria-label={`Agent ${name}`}>
          <h3>
            @{name} <span class="quiet">{[role, branch && `on ${branch}`].filter(Boolean).join(", ")}</span>
          </h3>
          {message_count === 0 && <p class="quiet">No messages.</p>}
          <ol class="history">
            {messages.map(({ id, from, text, at, readAt }) => (
              <li key={id}>
                <time dateTime={at}>{ago(at, now)}</time> <strong>{from}</strong>{" "}
                {!readAt && <span class="tag">unread</span>} <bdi class="text">{text}</bdi>
              </li>
            ))}
          </ol>
        </article>
      ))}
      {value.agents.length > 0 && <Send names={value.agents.map(({ name }) => name)} onSent={refresh} />}
    </Page>
  );
}

function Send({ names, onSent }: { names: string[]; onSent(): void }) {
  const [error, setError] = useState<string>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    try {
      await post("messages", fieldsOf(form));
      setError(undefined);
      form.reset();
      onSent();
    } catch (fault) {
      setError((fault as Error).message);
    }
  };
  return (
    <form class="form" aria-label="New message" onSubmit={(event) => void submit(event)}>
      <label>
        To
        <select name="to">
          {[...new Set(names)].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label class="wide">
        Message
        <textarea name="text" rows={2} required />
      </label>
      <Problem text={error} />
      <div class="row">
        <button type="submit" class="main">
          Send
        </button>
      </div>
    </form>
  );
}
