/** The charts, in a file of their own: the library is larger than the rest of the page. */
import uPlot from "uplot";
import type { Day } from "./savings.tsx";

const HEIGHT = 240;
const DAY = 24 * 60 * 60;

export function drawSavings(into: HTMLElement, days: readonly Day[]): () => void {
  const axis = {
    stroke: colour("--quiet", into),
    grid: { stroke: colour("--line", into), width: 1 },
    ticks: { stroke: colour("--line", into), width: 1 },
  };
  const at = days.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const data: uPlot.AlignedData = [at, days.map(({ native }) => native), days.map(({ added }) => added)];
  const plot = new uPlot(
    {
      width: into.clientWidth,
      height: HEIGHT,
      legend: { live: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      series: [
        {},
        { label: "native listing", stroke: colour("--warn", into), width: 2, points: { show: true } },
        { label: "added by Haversack", stroke: colour("--accent", into), width: 2, points: { show: true } },
      ],
      axes: [
        { ...axis, incrs: [1, 2, 7, 30, 90, 365].map((days) => days * DAY) },
        { ...axis, size: 64 },
      ],
      scales: {
        // One day alone still gets a day on each side.
        x: { range: () => [(at[0] ?? 0) - DAY / 2, (at.at(-1) ?? 0) + DAY / 2] },
        y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
      },
    },
    data,
    into,
  );
  const resize = new ResizeObserver(() => plot.setSize({ width: into.clientWidth, height: HEIGHT }));
  resize.observe(into);
  return () => {
    resize.disconnect();
    plot.destroy();
  };
}

/** A canvas needs the colour itself: the variable says `light-dark(…)`. */
function colour(variable: string, beside: HTMLElement): string {
  const probe = beside.appendChild(document.createElement("span"));
  probe.style.color = `var(${variable})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
