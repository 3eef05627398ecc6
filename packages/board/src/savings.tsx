/** What Haversack added to the windows, beside what the clients' own listings would have cost. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLive } from "./api.ts";
import { Empty, localTime, Problem, short } from "./parts.tsx";
import type { SavingsRow } from "./types.ts";

interface Charts {
  drawSavings(into: HTMLElement, days: readonly Day[]): () => void;
}

export interface Day {
  day: string;
  added: number;
  native: number;
}

export function Savings() {
  const { value, error } = useLive<{ sessions: SavingsRow[] }>("savings");
  if (!value) return <Problem text={error} />;
  const days = byDay(value.sessions);
  const sum = (pick: (row: SavingsRow) => number) => value.sessions.reduce((all, row) => all + pick(row), 0);
  const [added, native] = [sum((row) => row.added), sum((row) => row.native)];
  return (
    <section class="page">
      <h1>Savings</h1>
      <Problem text={error} />
      {value.sessions.length === 0 ? (
        <Empty>No session was seen here yet.</Empty>
      ) : (
        <>
          <p>
            In the last {value.sessions.length} {value.sessions.length === 1 ? "session" : "sessions"} Haversack added{" "}
            <strong>{short(added)}</strong> tokens. Listing the same skills would have cost{" "}
            <strong>{short(native)}</strong>. Both are estimates of what is paid in full; the cache is counted apart.
          </p>
          <Chart days={days} />
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Session</th>
                  <th scope="col" class="number">
                    prompts
                  </th>
                  <th scope="col" class="number">
                    added
                  </th>
                  <th scope="col" class="number">
                    from cache
                  </th>
                  <th scope="col" class="number">
                    listing
                  </th>
                  <th scope="col" class="number">
                    from cache
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.sessions.slice(0, 100).map((row) => (
                  <tr key={row.session_id + row.at}>
                    <th scope="row">
                      {row.session_id.slice(0, 18)}
                      <span class="quiet">
                        {row.client}, {localTime(row.at)}
                      </span>
                    </th>
                    <td class="number">{row.prompts}</td>
                    <td class="number">{short(row.added)}</td>
                    <td class="number">{short(row.added_cached)}</td>
                    <td class="number">{short(row.native)}</td>
                    <td class="number">{short(row.native_cached)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

function byDay(rows: readonly SavingsRow[]): Day[] {
  const days = new Map<string, Day>();
  for (const { at, added, native } of rows) {
    const day = at.slice(0, 10);
    const one = days.get(day) ?? { day, added: 0, native: 0 };
    days.set(day, { day, added: one.added + added, native: one.native + native });
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

function Chart({ days }: { days: readonly Day[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [charts, setCharts] = useState<Charts>();
  useEffect(() => {
    // Only this view needs the chart library.
    const path = "/charts.js";
    void import(path).then((loaded: Charts) => setCharts(() => loaded));
  }, []);
  useEffect(() => (charts && place.current ? charts.drawSavings(place.current, days) : undefined), [charts, days]);
  const last = days.at(-1);
  const label = last ? `Tokens per day. On ${last.day}: ${last.added} added, ${last.native} for the listing.` : "";
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}
