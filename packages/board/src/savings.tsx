/** What Haversack added to the windows, beside what the clients' own listings would have cost. */
import { useLive } from "./api.ts";
import { Chart } from "./chart.tsx";
import { Empty, localDay, localTime, Page, short } from "./parts.tsx";
import type { SavingsRow } from "./types.ts";

export interface Day {
  day: string;
  added: number;
  native: number;
}

export function Savings() {
  const { value, error } = useLive<{ sessions: SavingsRow[] }>("savings");
  if (!value) return <Page title="Savings" error={error} />;
  const days = byDay(value.sessions);
  const sum = (pick: (row: SavingsRow) => number) => value.sessions.reduce((all, row) => all + pick(row), 0);
  const [added, native] = [sum((row) => row.added), sum((row) => row.native)];
  return (
    <Page title="Savings" error={error}>
      {value.sessions.length === 0 ? (
        <Empty>
          No session was seen here yet. <code>haversack init</code> connects the clients.
        </Empty>
      ) : (
        <>
          <p>
            In {value.sessions.length === 1 ? "one session" : `the last ${value.sessions.length} sessions`}, Haversack
            added <strong>{short(added)}</strong> tokens. Listing the same skills would have cost{" "}
            <strong>{short(native)}</strong>. Both are estimates of what is paid in full; the cache is counted apart.
          </p>
          <Chart
            label={labelOf(days)}
            draw={(charts, into) => charts.drawSavings(into, days)}
            on={[JSON.stringify(days)]}
          />
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
                    listing
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
                    <Paid full={row.added} cached={row.added_cached} />
                    <Paid full={row.native} cached={row.native_cached} />
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Page>
  );
}

function Paid({ full, cached }: { full: number; cached: number }) {
  return (
    <td class="number">
      {short(full)} <span class="quiet">{short(cached)} from cache</span>
    </td>
  );
}

/** Days in this browser's time zone. */
function byDay(rows: readonly SavingsRow[]): Day[] {
  const days = new Map<string, Day>();
  for (const { at, added, native } of rows) {
    const day = localDay(at);
    const one = days.get(day) ?? { day, added: 0, native: 0 };
    days.set(day, { day, added: one.added + added, native: one.native + native });
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

function labelOf(days: readonly Day[]): string {
  const last = days.at(-1);
  return last ? `Tokens per day. On ${last.day}: ${last.added} added, ${last.native} for the listing.` : "";
}
