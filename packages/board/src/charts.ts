/** The charts, in a separate file, because their library is larger than the rest of the page. */
import uPlot from "uplot";
import type { Day } from "./savings.tsx";

const HEIGHT = 240;
const DAY = 24 * 60 * 60;

/** Two bars per day, side by side. */
export function drawSavings(into: HTMLElement, days: readonly Day[]): () => void {
  const bars = (label: string, variable: string, align: -1 | 1) => {
    const paths = uPlot.paths.bars?.({ size: [0.35, 28], align, gap: 2 });
    const fill = colour(variable, into);
    return { label, fill, stroke: fill, width: 0, points: { show: false }, ...(paths && { paths }) };
  };
  const data = [
    days.map(({ day }) => midnight(day)),
    days.map(({ native }) => native),
    days.map(({ added }) => added),
  ] as uPlot.AlignedData;
  return draw(into, data, [bars("native listing", "--blue", -1), bars("added by Haversack", "--accent", 1)]);
}

export interface Stacked {
  categories: readonly { key: string; label: string }[];
  days: readonly { day: string; tokens: readonly number[] }[];
}

/** One stacked bar per day. The first category is drawn last, in front of the sums behind it. */
export function drawStacked(into: HTMLElement, { categories, days }: Stacked): () => void {
  const sums = categories.map((_, upTo) =>
    days.map(({ tokens }) => tokens.slice(0, upTo + 1).reduce((sum, one) => sum + one, 0)),
  );
  const paths = uPlot.paths.bars?.({ size: [0.7, 48] });
  const series = categories.map(({ key, label }) => {
    const fill = colour(`--kind-${key}`, into);
    return { label, fill, stroke: fill, width: 0, points: { show: false }, ...(paths && { paths }) };
  });
  const data = [days.map(({ day }) => midnight(day)), ...sums.reverse()] as uPlot.AlignedData;
  return draw(into, data, series.reverse(), { hasLegend: false });
}

function draw(into: HTMLElement, data: uPlot.AlignedData, series: uPlot.Series[], { hasLegend = true } = {}) {
  const axis = {
    stroke: colour("--quiet", into),
    grid: { stroke: colour("--line", into), width: 1 },
    ticks: { stroke: colour("--line", into), width: 1 },
    font: `12px ${getComputedStyle(into).fontFamily}`,
  };
  const [at] = data;
  const plot = new uPlot(
    {
      width: into.clientWidth,
      height: HEIGHT,
      legend: { live: false, show: hasLegend },
      cursor: { show: false },
      series: [{}, ...series],
      axes: [
        {
          ...axis,
          incrs: [1, 2, 7, 30, 90, 365].map((days) => days * DAY),
          space: 70,
          values: (_, ticks) =>
            ticks.map((tick) =>
              new Date(tick * 1000).toLocaleDateString(undefined, { month: "short", day: "numeric" }),
            ),
        },
        { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => compact(tick)) },
      ],
      scales: {
        // A single day gets room for a day on each side.
        x: { range: () => [(at[0] ?? 0) - DAY * 0.6, (at.at(-1) ?? 0) + DAY * 0.6] },
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

/** Of a local day, in seconds. */
function midnight(day: string): number {
  return new Date(`${day}T00:00:00`).getTime() / 1000;
}

function compact(count: number): string {
  return Intl.NumberFormat("en", { notation: "compact" }).format(count);
}

/** A canvas needs the actual colour: the variable contains `light-dark(…)`. */
function colour(variable: string, beside: HTMLElement): string {
  const probe = beside.appendChild(document.createElement("span"));
  probe.style.color = `var(${variable})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
