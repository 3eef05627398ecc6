/** What filled the windows of this project's past sessions, from the clients' transcripts. */
import { useEffect, useState } from "preact/hooks";
import { post, useClock, useLive } from "./api.ts";
import { Chart } from "./chart.tsx";
import { ago, Coded, Empty, localTime, Page, short, span } from "./parts.tsx";
import type { AuditReport, AuditView } from "./types.ts";

const PERIODS: readonly [number, string][] = [
  [7, "last 7 days"],
  [30, "last 30 days"],
  [90, "last 90 days"],
  [3650, "all time"],
];

export function Audit() {
  const { value, error, refresh } = useLive<AuditView>("audit");
  const [fault, setFault] = useState<string>();
  const now = useClock();
  const read = async (days: number) => {
    try {
      await post("audit", { days });
      setFault(undefined);
    } catch (failed) {
      setFault((failed as Error).message);
    }
    refresh();
  };
  const state = value?.state;
  // Looking at the view is asking for it.
  useEffect(() => {
    if (state === "none") void read(30);
  }, [state]);
  if (!value) return <Page title="Where the windows went" error={error} />;
  const { report, at, days, problem } = value;
  return (
    <Page title="Where the windows went" error={fault ?? error}>
      <div class="bar">
        <label>
          <span class="hidden">Period</span>
          <select value={days} onChange={(event) => void read(Number(event.currentTarget.value))}>
            {PERIODS.map(([count, name]) => (
              <option key={count} value={count}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={state === "reading"} onClick={() => void read(days)}>
          Read again
        </button>
        <span class="quiet">
          {/* Only this is read out: a clock would speak every second. */}
          <span role="status">
            {state === "reading" && "Reading the transcripts…"}
            {state === "ready" && "read"}
          </span>{" "}
          {state === "reading" && at && span(now - Date.parse(at))}
          {state === "ready" && at && ago(at, now)}
        </span>
      </div>
      {state === "failed" && <Empty>Nothing to show: {problem}.</Empty>}
      {report && report.windows === 0 && <Empty>No session of this project in that time.</Empty>}
      {report && report.windows > 0 && <Report report={report} />}
    </Page>
  );
}

function Report({ report }: { report: AuditReport }) {
  const { categories, by_day, wastes, lost } = report;
  const most = Math.max(...categories.map(({ tokens }) => tokens), 1);
  const all = categories.reduce((sum, { tokens }) => sum + tokens, 0) || 1;
  return (
    <>
      <p>
        {report.sessions} {report.sessions === 1 ? "session" : "sessions"}, {report.windows}{" "}
        {report.windows === 1 ? "window" : "windows"}, {report.compactions}{" "}
        {report.compactions === 1 ? "compaction" : "compactions"}: <strong>{short(report.tokens)}</strong> tokens in
        windows, {short(report.carried)} sent in all requests.
        {report.broken > 0 && ` ${report.broken} cut or broken lines were skipped.`}
      </p>
      <table class="bars">
        <thead class="hidden">
          <tr>
            <th scope="col">Kind of text</th>
            <th scope="col">Tokens</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {categories.map(({ key, label, tokens }) => (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td class="number">{short(tokens)}</td>
              <td>
                <div class="bar-row">
                  <span class="bar-of" aria-hidden="true">
                    <span
                      class={`bar-fill fill-${key}`}
                      style={{ width: `${Math.max(0.5, (100 * tokens) / most)}%` }}
                    />
                  </span>
                  <span class="share">{((100 * tokens) / all).toFixed(1)}%</span>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {by_day.length > 1 && (
        <>
          <h2 class="part">By day</h2>
          <Chart
            label={`Tokens in windows on ${by_day.length} days. On ${by_day.at(-1)?.day}: ${by_day.at(-1)?.tokens.reduce((sum, one) => sum + one, 0)}.`}
            draw={(charts, into) => charts.drawStacked(into, { categories, days: by_day })}
            on={[report]}
          />
        </>
      )}
      {wastes.length > 0 && (
        <>
          <h2 class="part">Largest wastes</h2>
          <ol class="wastes">
            {wastes.map(({ tokens, text, remedy }) => (
              <li key={text}>
                <strong class="number">{short(tokens)}</strong>
                <div>
                  <Coded text={text} />{" "}
                  <span class="quiet">
                    <Coded text={remedy} />
                  </span>
                </div>
              </li>
            ))}
          </ol>
        </>
      )}
      {lost.length > 0 && (
        <>
          <h2 class="part">Compactions, and what they lost</h2>
          <ul class="history">
            {lost.map(({ at, session, trigger, before, after, what }) => (
              <li key={`${session}${at}`}>
                {at !== "" && <time dateTime={at}>{localTime(at)}</time>} {session}
                {trigger && `, ${trigger}`}: {short(before)} to {short(after)} tokens
                {what && <span class="quiet">; lost: {what}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
