/** A place for a chart. The library behind it is loaded when the first one is shown. */
import { useEffect, useRef, useState } from "preact/hooks";
import type * as Charts from "./charts.ts";

export function Chart({
  label,
  draw,
  on,
}: {
  /** What it shows, for screen readers. */
  label: string;
  draw(charts: typeof Charts, into: HTMLElement): () => void;
  /** Drawn anew when one of these changes. */
  on: readonly unknown[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const [charts, setCharts] = useState<typeof Charts>();
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const path = "/charts.js";
    void import(path).then((loaded: typeof Charts) => setCharts(() => loaded));
    // A canvas does not follow the theme automatically.
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => setTheme((count) => count + 1);
    const chosen = new MutationObserver(again);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", again);
    return () => {
      chosen.disconnect();
      dark.removeEventListener("change", again);
    };
  }, []);
  useEffect(() => (charts && place.current ? draw(charts, place.current) : undefined), [charts, theme, ...on]);
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}
