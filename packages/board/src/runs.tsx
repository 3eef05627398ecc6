/** Headless runs: what they do now, and how to stop them. */
import { useState } from "preact/hooks";
import { post, useClock, useLive } from "./api.ts";
import { ago, Empty, Meter, Page, short, span } from "./parts.tsx";
import type { RunView } from "./types.ts";

export function Runs({ onOpen }: { onOpen(id: string): void }) {
  const { value, error, refresh } = useLive<{ runs: RunView[] }>("runs");
  const [fault, setFault] = useState<string>();
  const now = useClock();
  const stop = async (id: string, isNow: boolean) => {
    if (isNow && !window.confirm(`Stop run ${id} at once? Its sessions get no time to save.`)) return;
    try {
      await post(`runs/${id}/stop`, { now: isNow });
      setFault(undefined);
    } catch (failed) {
      setFault((failed as Error).message);
    }
    refresh();
  };
  if (!value) return <Page title="Runs" error={error} />;
  return (
    <Page title="Runs" error={fault ?? error}>
      {value.runs.length === 0 && (
        <Empty>
          No run yet. <code>haversack work --all --dry-run</code> shows what one would do.
        </Empty>
      )}
      {value.runs.map((run) => (
        <article key={run.id} class={`run ${run.state}`} aria-label={`Run ${run.id}`}>
          <header>
            <h2>
              {run.id} <span class={`state ${run.state}`}>{run.state}</span>
            </h2>
            <span class="quiet">
              {run.scope === "all" ? "all work" : run.scope}, {run.client} on {run.machine}, started{" "}
              {ago(run.started_at, now)}
              {run.ended_at && `, took ${span(new Date(run.ended_at).getTime() - new Date(run.started_at).getTime())}`}
            </span>
            {run.state === "running" && (
              <span class="row">
                <button type="button" onClick={() => void stop(run.id, false)}>
                  Stop
                </button>
                <button type="button" onClick={() => void stop(run.id, true)}>
                  Stop now
                </button>
              </span>
            )}
          </header>
          {run.fill !== undefined && run.state === "running" && (
            <p class="fill">
              <span>Window</span>
              <Meter value={run.fill} label={`Window of run ${run.id}`} isCost />
              <span>{Math.round(run.fill * 100)}%</span>
            </p>
          )}
          <dl class="numbers">
            <Figure name="sessions" value={String(run.sessions)} />
            <Figure name="batch" value={String(run.batch_size)} />
            <Figure name="tokens" value={short(run.tokens)} />
            {run.cost_usd > 0 && <Figure name="cost" value={`$${run.cost_usd.toFixed(2)}`} />}
            <Figure
              name="tasks done"
              value={`${run.tasks.filter(({ state }) => state === "done").length} of ${run.tasks.length}`}
            />
          </dl>
          {run.stopped && <p class="text">{run.stopped}</p>}
          {run.remedy && (
            <p>
              Go on with <code>{run.remedy}</code>
            </p>
          )}
          {run.tasks.length > 0 && (
            <details open={run.state === "running"}>
              <summary>Tasks</summary>
              <ul class="plain">
                {run.tasks.map(({ id, title, state }) => (
                  <li key={id}>
                    <button type="button" class="link" onClick={() => onOpen(id)}>
                      {id} <bdi>{title}</bdi>
                    </button>{" "}
                    <span class={`state ${state}`}>{state}</span>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </article>
      ))}
    </Page>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
